// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/file.h"
#include "engine/frontends/zoo/onnx_model.h"
#include "engine/graph/graph.h"

/// Model files to graphs, and the bundled networks.
namespace tw::frontends {

/// What became of one operator of a model file while it was read, over all its uses: those in functions, branches and loops each time that they are gone through.
struct OperatorReading {
  std::string name;        ///< as the file calls it
  int64_t uses = 0;
  int64_t computed = 0;    ///< uses whose results are constants
  int64_t left_out = 0;    ///< uses that hand on what they get, as dropout does
  int64_t expanded = 0;    ///< uses that became several operators
  int64_t operators = 0;   ///< of the graph, for all uses; what no output needs is left out of the graph later
};

/// What is said of an input that a file leaves open altogether, as TorchScript does, and ONNX's that have no shape.
struct InputShape {
  std::vector<int64_t> shape;
  std::optional<DType> type = {};  ///< none: the one that is proposed
};

struct ImportOptions {
  std::map<std::string, int64_t> dims;         ///< values of symbolic dimensions, by name; "batch" style names default to 1 when absent. Of ONNX's inputs that are one integer, too
  std::map<std::string, InputShape> shapes;    ///< of inputs that the file leaves open altogether, by name; `dims` as INPUT.AXIS changes them, or what the file proposes
  std::map<std::string, HostArray> constants;  ///< inputs to fix at a value, by name: they become constants (shapes, axes, repeats given as inputs)
  /// Told of each further file that a model keeps its data in, with its size, before anything is read from it.
  std::function<void(int64_t bytes)> on_external_file;
  ArrayRoom room;  ///< where the model's arrays are to lie; empty: anywhere
  int64_t apart_bytes = 0;  ///< of memory that another process may take which reads the file; 0: its own rule
  std::vector<OperatorReading>* reading = nullptr;  ///< filled in by name, if wanted
};

/// Reads a model file of any kind that is known here: ONNX, or an exported program of PyTorch, or TorchScript, told apart by what is in them; or an expression (.te), by its name.
/// Errors: those of the readers; unsupported naming what else it is.
Expected<graph::Graph> read_model(const std::string& path, const ImportOptions& options = {});
/// A size of inputs that a model file leaves open.
struct OpenSize {
  std::string name;                 ///< what ImportOptions::dims takes
  std::vector<std::string> places;  ///< the dimensions that it decides, as INPUT.AXIS
  int64_t least = 1, most = -1;     ///< -1: any
  int64_t proposal = 1;             ///< of the example that a program was exported with; else 1 for a batch, and a common number for what the name says
  bool required = false;            ///< nothing stands in for it
  bool is_input = false;            ///< an input that is one integer, such as a rate that decides between branches: given, it is a constant; else it stays an input
};
/// Those of a model file, in the order of its inputs. Errors: those of the readers, for what comes before the operators.
Expected<std::vector<OpenSize>> open_sizes(const std::string& path);
Expected<std::vector<OpenSize>> open_sizes_of_pt2(const std::string& path);
Expected<std::vector<OpenSize>> open_sizes_of_onnx(const std::string& path);

/// Reads what `torch.export.save` writes (.pt2): PyTorch 2.8 and newer. Sizes that are symbols take their value from `options.dims`, by the symbol's name or as
/// INPUT.AXIS, and else from the example that the program was exported with.
/// Errors: parse_error, corrupt, unsupported (functions, all at once with counts), not_found, invalid_argument, resource_limit.
Expected<graph::Graph> read_pt2(const std::string& path, const ImportOptions& options = {});
/// Reads what `torch.jit.save` writes (.pt): a module that was traced or scripted, through `tw-learner` (learner/script.h), as the program that it is for inputs of one shape each.
/// Errors: not_found where that program is not there; invalid_argument naming inputs that need a shape; those of learner::script_program and read_pt2.
Expected<graph::Graph> read_torchscript(const std::string& path, const ImportOptions& options = {});
Expected<std::vector<OpenSize>> open_sizes_of_torchscript(const std::string& path, const ImportOptions& options = {});
/// What libtorch itself computes of such a file for `inputs`, in their order. Errors: as above.
Expected<std::vector<HostArray>> run_torchscript(const std::string& path, std::span<const HostArray> inputs);
/// Whether the file is an archive of TorchScript.
bool is_torchscript(const std::string& path);
/// Reads a computation of one's own (te/source.h) as a graph of one node that is called as the file.
/// Errors: parse_error with line and column; resource_limit for more than 64 KiB.
Expected<graph::Graph> read_expression(const std::string& path);
/// Whether a file is called as such a text is.
bool is_expression(const std::string& path);
/// Reads an ONNX file: opsets 1 to 28, initialisers, external data below the file's own folder.
/// Errors: parse_error (not ONNX, truncated), unsupported (operator or opset by name and node), not_found and invalid_argument (external data).
Expected<graph::Graph> read_onnx(const std::string& path, const ImportOptions& options = {});
/// The same from memory; `folder` is where external data may lie (none if empty).
Expected<graph::Graph> read_onnx_bytes(std::string_view bytes, const std::string& folder, const ImportOptions& options = {});
/// Reads one tensor in a `.pb` file of an ONNX test case.
Expected<HostArray> read_onnx_tensor(const std::string& path);

struct ZooOptions {
  bool tiny = false;  ///< the same structure with small channels and images
  int64_t batch = 1;
  uint64_t seed = 1;
};
struct ZooModel {
  const char* name;
  const char* summary;
  /// ONNX model with seeded weights.
  Expected<OnnxModel> (*build)(const ZooOptions&);
};
std::span<const ZooModel> zoo();
/// `synced`: it waits until the file is on the disk (file.h). Errors: not_found listing the known names; io_error.
Expected<void> write_zoo_model(const std::string& name, const ZooOptions& options, const std::string& path, bool synced = true);
/// Told by the producer's name.
extern const FileKind kZooFile;

}  // namespace tw::frontends
