<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN">
<context>
    <name>tw::app::LessonDesk</name>
    <message>
        <source>No network is open</source>
        <translation>没有打开的网络</translation>
    </message>
    <message>
        <source>A session is running</source>
        <translation>有会话正在运行</translation>
    </message>
    <message>
        <source>The lesson&apos;s folder has no file %1</source>
        <translation>课程文件夹里没有文件 %1</translation>
    </message>
    <message>
        <source>There is no bundled operator %1</source>
        <translation>没有名为 %1 的内置算子</translation>
    </message>
    <message>
        <source>The folder %1 cannot be created</source>
        <translation>无法创建文件夹 %1</translation>
    </message>
    <message>
        <source>No workspace is open for writing</source>
        <translation>没有打开可写的工作区</translation>
    </message>
    <message>
        <source>The text that you are editing stays</source>
        <translation>正在编辑的文本保持不变</translation>
    </message>
    <message>
        <source>The graph has no node %1</source>
        <translation>图中没有节点 %1</translation>
    </message>
    <message>
        <source>The network has no task %1</source>
        <translation>网络没有任务 %1</translation>
    </message>
    <message>
        <source>The task has no space</source>
        <translation>该任务没有调度空间</translation>
    </message>
    <message>
        <source>The space has no point %1</source>
        <translation>空间里没有点 %1</translation>
    </message>
    <message>
        <source>The listing has no line with %1</source>
        <translation>代码中没有含 %1 的行</translation>
    </message>
    <message>
        <source>The knob %1 has no value %2</source>
        <translation>旋钮 %1 没有取值 %2</translation>
    </message>
    <message>
        <source>The space has no knob %1</source>
        <translation>空间里没有旋钮 %1</translation>
    </message>
</context>
<context>
    <name>tw::app::LessonService</name>
    <message>
        <source>The lesson %1 has no step %2</source>
        <translation>课程 %1 没有步骤 %2</translation>
    </message>
    <message>
        <source>There is no lesson %1</source>
        <translation>没有课程 %1</translation>
    </message>
    <message>
        <source>That is not known yet: do what the step says first.</source>
        <translation>现在还不知道：请先按这一步所说的去做。</translation>
    </message>
    <message>
        <source>A number is asked for.</source>
        <translation>这里要填一个数。</translation>
    </message>
    <message>
        <source>Right.</source>
        <translation>正确。</translation>
    </message>
    <message>
        <source>Not quite.</source>
        <translation>不太对。</translation>
    </message>
    <message>
        <source>No race, and every element is right.</source>
        <translation>没有数据竞争，每个元素都正确。</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <comment>an action and why it failed</comment>
        <translation>%1：%2</translation>
    </message>
</context>
<context>
    <name>tw::app::LessonsView</name>
    <message>
        <source>Lessons</source>
        <translation>课程</translation>
    </message>
    <message>
        <source>Language of the lessons</source>
        <translation>课程的语言</translation>
    </message>
    <message>
        <source>Close the lessons</source>
        <translation>关闭课程</translation>
    </message>
    <message>
        <source>Lesson</source>
        <translation>课程</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>完成</translation>
    </message>
    <message>
        <source>Start</source>
        <translation>开始</translation>
    </message>
    <message>
        <source>Begin the lesson, or go on where it was left</source>
        <translation>开始课程，或从上次停下的地方继续</translation>
    </message>
    <message>
        <source>Folder…</source>
        <translation>文件夹…</translation>
    </message>
    <message>
        <source>Show the lessons of a folder too, such as a teacher&apos;s</source>
        <translation>同时显示某个文件夹里的课程，例如老师的</translation>
    </message>
    <message>
        <source>Hand in…</source>
        <translation>提交…</translation>
    </message>
    <message>
        <source>Write what you did in all lessons as a file, which tw lesson collect tabulates, or as a web page</source>
        <translation>把你在所有课程中完成的内容写成文件（tw lesson collect 可汇总成表），或写成网页</translation>
    </message>
    <message>
        <source>Leave</source>
        <translation>离开</translation>
    </message>
    <message>
        <source>Leave the lesson; what is done of it stays done</source>
        <translation>离开课程；已完成的部分会保留</translation>
    </message>
    <message>
        <source>Step of the lesson</source>
        <translation>课程的步骤</translation>
    </message>
    <message>
        <source>Go to a step; a tick stands before those that are done</source>
        <translation>转到某一步；已完成的步骤前有对勾</translation>
    </message>
    <message>
        <source>Steps done</source>
        <translation>已完成的步骤</translation>
    </message>
    <message>
        <source>Text of the step</source>
        <translation>这一步的说明</translation>
    </message>
    <message>
        <source>Your answer, a number</source>
        <translation>你的答案，一个数</translation>
    </message>
    <message>
        <source>A number</source>
        <translation>一个数</translation>
    </message>
    <message>
        <source>Answer</source>
        <translation>回答</translation>
    </message>
    <message>
        <source>Give this answer</source>
        <translation>提交这个答案</translation>
    </message>
    <message>
        <source>Exercise</source>
        <translation>练习</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>Run the program in the interpreter, thread by thread, and compare what it computes</source>
        <translation>在解释器中逐线程运行程序，并比较它算出的结果</translation>
    </message>
    <message>
        <source>Hint</source>
        <translation>提示</translation>
    </message>
    <message>
        <source>Say a hint, or one more</source>
        <translation>给出一条提示，或再给一条</translation>
    </message>
    <message>
        <source>Show me</source>
        <translation>演示</translation>
    </message>
    <message>
        <source>Do what the step asks for; it counts as shown, not as done</source>
        <translation>替你做这一步要求的事；记为已演示，而不是已完成</translation>
    </message>
    <message>
        <source>Reset</source>
        <translation>重来</translation>
    </message>
    <message>
        <source>Forget what was done in this lesson and begin it again</source>
        <translation>清除这一课的完成记录并重新开始</translation>
    </message>
    <message>
        <source>Back</source>
        <translation>上一步</translation>
    </message>
    <message>
        <source>The step before</source>
        <translation>前一步</translation>
    </message>
    <message>
        <source>Skip</source>
        <translation>跳过</translation>
    </message>
    <message>
        <source>Go on without having done it</source>
        <translation>不做这一步，继续</translation>
    </message>
    <message>
        <source>Next</source>
        <translation>下一步</translation>
    </message>
    <message>
        <source>The next step</source>
        <translation>后一步</translation>
    </message>
    <message>
        <source>%1 is no lesson</source>
        <comment>a file&apos;s name</comment>
        <translation>%1 不是课程</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <comment>steps</comment>
        <translation>%1 / %2</translation>
    </message>
    <message>
        <source>Choose a lesson.</source>
        <translation>请选择一课。</translation>
    </message>
    <message numerus="yes">
        <source>%n step(s), about %1 minutes.</source>
        <translation>
            <numerusform>%n 步，约 %1 分钟。</numerusform>
        </translation>
    </message>
    <message>
        <source>Running…</source>
        <translation>正在运行…</translation>
    </message>
    <message>
        <source>Hint: %1</source>
        <translation>提示：%1</translation>
    </message>
    <message>
        <source>Finish</source>
        <translation>结束</translation>
    </message>
    <message>
        <source>Read, then go on.</source>
        <translation>读完后继续。</translation>
    </message>
    <message>
        <source>Done.</source>
        <translation>已完成。</translation>
    </message>
    <message>
        <source>Shown.</source>
        <translation>已演示。</translation>
    </message>
    <message>
        <source>Getting ready…</source>
        <translation>正在准备…</translation>
    </message>
    <message>
        <source>%1 of %2 done</source>
        <comment>things that a step asks for</comment>
        <translation>已完成 %1 / %2</translation>
    </message>
    <message>
        <source>Folder of lessons</source>
        <translation>课程文件夹</translation>
    </message>
    <message>
        <source>Hand in</source>
        <translation>提交</translation>
    </message>
    <message>
        <source>Your name, as your teacher knows you</source>
        <translation>你的姓名（老师所知道的）</translation>
    </message>
    <message>
        <source>Web page (*.html)</source>
        <translation>网页 (*.html)</translation>
    </message>
    <message>
        <source>What a learner did (*.json)</source>
        <translation>学习记录 (*.json)</translation>
    </message>
    <message>
        <source>Written: %1</source>
        <translation>已写入：%1</translation>
    </message>
</context>
</TS>
