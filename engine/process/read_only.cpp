// SPDX-License-Identifier: Apache-2.0
#include "engine/process/read_only.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tw::process {
namespace {

#if defined(__x86_64__)
constexpr unsigned kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned kArchitecture = AUDIT_ARCH_AARCH64;
#else
constexpr unsigned kArchitecture = 0;
#endif

/// Calls that change what others see, or that give others something to run. Those of old, which newer systems lack, are named where the headers have them.
constexpr int kRefused[] = {
    SYS_openat2, SYS_truncate, SYS_ftruncate, SYS_unlinkat, SYS_renameat2, SYS_linkat, SYS_symlinkat, SYS_mkdirat, SYS_mknodat, SYS_fchmod, SYS_fchmodat, SYS_fchown, SYS_fchownat,
    SYS_utimensat, SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr, SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr, SYS_fallocate, SYS_socket, SYS_socketpair, SYS_connect, SYS_bind,
    SYS_execve, SYS_execveat, SYS_ptrace, SYS_process_vm_writev, SYS_mount, SYS_umount2, SYS_chroot, SYS_pivot_root, SYS_unshare, SYS_setns, SYS_bpf, SYS_kexec_load, SYS_init_module,
    SYS_io_uring_setup, SYS_shmget, SYS_msgget, SYS_mq_open, SYS_mq_unlink, SYS_setpriority,
#ifdef SYS_open
    SYS_creat, SYS_unlink, SYS_rename, SYS_renameat, SYS_link, SYS_symlink, SYS_mkdir, SYS_rmdir, SYS_mknod, SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat, SYS_fork, SYS_vfork,
#endif
};
constexpr unsigned kWrites = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND;

class Filter {
 public:
  Filter() {
    // Another architecture's numbers mean other calls.
    load(offsetof(seccomp_data, arch));
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0));
    answer(SECCOMP_RET_ERRNO | EPERM);
    load(offsetof(seccomp_data, nr));
    for (const int call : kRefused) {
      add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 1));
      answer(SECCOMP_RET_ERRNO | EPERM);
    }
    // Threads are made by clone; who tries clone3 first is sent there, as its flags lie where no filter sees them.
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1));
    answer(SECCOMP_RET_ERRNO | ENOSYS);
    with_argument(SYS_clone, 0, CLONE_THREAD, true);
    with_argument(SYS_openat, 2, kWrites, false);
#ifdef SYS_open
    with_argument(SYS_open, 1, kWrites, false);
#endif
    answer(SECCOMP_RET_ALLOW);
  }
  bool install() {
    const sock_fprog program{static_cast<unsigned short>(code_.size()), code_.data()};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program) == 0;
  }

 private:
  void add(const sock_filter& f) { code_.push_back(f); }
  void load(size_t offset) { add(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<unsigned>(offset))); }
  void answer(unsigned value) { add(BPF_STMT(BPF_RET | BPF_K, value)); }
  /// The call is allowed if any of `bits` is in its argument, or else if none is. Of 64 bits the low half counts, which lies first.
  void with_argument(int call, size_t argument, unsigned bits, bool wanted) {
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 4));
    load(offsetof(seccomp_data, args) + argument * sizeof(uint64_t));
    add(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, 0, 1));
    answer(wanted ? SECCOMP_RET_ALLOW : SECCOMP_RET_ERRNO | EPERM);
    answer(wanted ? SECCOMP_RET_ERRNO | EPERM : SECCOMP_RET_ALLOW);
  }

  std::vector<sock_filter> code_;
};

}  // namespace

bool become_read_only() { return kArchitecture != 0 && Filter().install(); }

}  // namespace tw::process
