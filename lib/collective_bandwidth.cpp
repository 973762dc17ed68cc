#include <cmath>
#include <sstream>

#include "pw/collective.h"

namespace pw {
namespace {

// What a class of links delivers: medians over the measured GPUs, from their fitted curves at
// 10 kB (latency) and 1 GB (share of the nominal rate). docs/method.md "Collectives" lists the
// values behind each median and the golden test computes them again.
struct LinkBehaviour {
  double all_reduce_step_us;  // of the 2 log2(n) steps up and down a tree
  double all_reduce_fraction;
  double send_recv_latency_us;
  double send_recv_fraction;
};
constexpr LinkBehaviour kNvlink{5.05, 0.75, 5.2, 0.745};
// No send_recv was measured over PCIe: one all_reduce step and the same share of the rate.
constexpr LinkBehaviour kPcie{6.1, 0.36, 6.1, 0.36};

// PCI Express 4.0: 16 lanes of 16 GT/s, the nominal rate as in hardware/*.json.
constexpr double kPcie4GbPerS = 32;

struct Link {
  Interconnect kind = Interconnect::pcie;
  double gb_per_s = kPcie4GbPerS;  // per direction
  std::string note;
};

Link link_of(const HardwareSpec& hardware) {
  Link link;
  if (!hardware.interconnect || !hardware.interconnect_gb_per_s) {
    link.note =
        "PCIe 4.0 x16 assumed, set \"interconnect\" and \"interconnectBandwidth\" in its hardware "
        "file";
    return link;
  }
  link.kind = *hardware.interconnect;
  link.gb_per_s = *hardware.interconnect_gb_per_s;
  return link;
}

}  // namespace

double all_reduce_traffic(std::int64_t workers) {
  const double n = static_cast<double>(workers);
  return 2 * (n - 1) / n;
}

CollectiveEstimate bandwidth_model(const HardwareSpec& hardware, std::string_view collective,
                                   std::int64_t bytes, std::int64_t workers) {
  const Link link = link_of(hardware);
  const bool nvlink = link.kind == Interconnect::nvlink;
  const LinkBehaviour& behaviour = nvlink ? kNvlink : kPcie;
  const double transfer_us = static_cast<double>(bytes) / (link.gb_per_s * 1e3);
  CollectiveEstimate result;
  if (collective == "all_reduce") {
    result.duration_us =
        behaviour.all_reduce_step_us * 2 * std::log2(static_cast<double>(workers)) +
        all_reduce_traffic(workers) * transfer_us / behaviour.all_reduce_fraction;
  } else {
    result.duration_us =
        behaviour.send_recv_latency_us + transfer_us / behaviour.send_recv_fraction;
  }
  std::ostringstream note;
  note << "no measured " << collective << " for " << hardware.name << ": bandwidth model from its "
       << (nvlink ? "NVLink" : "PCIe") << " rate, " << link.gb_per_s << " GB/s";
  if (!link.note.empty()) {
    note << " (" << link.note << ")";
  }
  result.facts.add({FactKind::collective_from_bandwidth,
                    note.str(),
                    {{"collective", std::string(collective)}, {"gb_per_s", link.gb_per_s}}});
  return result;
}

}  // namespace pw
