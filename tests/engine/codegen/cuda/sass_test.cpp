// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "engine/codegen/cuda/nvrtc.h"
#include "engine/codegen/cuda/sass.h"

using namespace tw;

class SassTest : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  /// As nvdisasm 13 prints a kernel that calls a function on line 1, which was put in.
  void parse() {
    const codegen::Sass s = codegen::parse_sass(R"(	.target	sm_80

//--------------------- .text.k                   --------------------------
	.section	.text.k,"ax",@progbits
        .global         k
k:
.text.k:
	//## File "/tmp/kernel.cu", line 2
        /*0000*/                   MOV R1, c[0x0][0x28] ;
        /*0010*/              @P0  EXIT ;
	//## File "/tmp/kernel.cu", line 1 inlined at "/tmp/kernel.cu", line 5
	//## File "/tmp/kernel.cu", line 5
        /*0020*/                   FFMA R0, R0, R9, 1 ;
.L_x_0:
        /*00f0*/                   BRA `(.L_x_0);
)");
    QCOMPARE(s.text, std::string("k:\n"
                                 "  /*0000*/                   MOV R1, c[0x0][0x28] ;\n"
                                 "  /*0010*/              @P0  EXIT ;\n"
                                 "  /*0020*/                   FFMA R0, R0, R9, 1 ;\n"
                                 ".L_x_0:\n"
                                 "  /*00f0*/                   BRA `(.L_x_0);\n"));
    QCOMPARE(s.line_to_source, (std::vector<int>{-1, 1, 1, 4, -1, 4}));
  }

  void compiled() {
    const auto binary =
        codegen::nvrtc_compile("extern \"C\" __global__ void k(float* y) {\n  int i = threadIdx.x;\n  y[i] =\n      y[i + 1] * 3.0f;\n}\n", 80, true);
    if (!binary) QSKIP(binary.error().message.c_str());
    const auto sass = codegen::disassemble(binary->cubin);
    if (!sass && sass.error().code == ErrorCode::not_found) QSKIP(sass.error().message.c_str());
    QVERIFY2(sass.has_value(), sass ? "" : sass.error().text().c_str());
    std::istringstream lines(sass->text);
    std::string line;
    std::map<std::string, int> first;
    for (size_t n = 0; std::getline(lines, line); ++n)
      for (const char* operation : {"LDG", "FMUL", "STG"})
        if (line.find(operation) != std::string::npos) first.emplace(operation, sass->line_to_source.at(n));
    QCOMPARE(first, (std::map<std::string, int>{{"LDG", 3}, {"FMUL", 3}, {"STG", 2}}));
    QCOMPARE(codegen::disassemble({std::byte{1}, std::byte{2}}).error().code, ErrorCode::infrastructure);
  }
};

QTEST_APPLESS_MAIN(SassTest)
#include "sass_test.moc"
