//! What a GPU's driver says of its state, by NVML: read, never set.

use nvml_wrapper::Nvml;
use nvml_wrapper::bitmasks::device::ThrottleReasons;
use nvml_wrapper::enum_wrappers::device::Clock;

/// The library that every driver brings.
const LIBRARY: &str = "libnvidia-ml.so.1";

/// Reasons that have nothing to do with the machine's health: a GPU without work, and limits somebody chose.
const HARMLESS: ThrottleReasons = ThrottleReasons::GPU_IDLE
    .union(ThrottleReasons::APPLICATIONS_CLOCKS_SETTING)
    .union(ThrottleReasons::DISPLAY_CLOCK_SETTING);
/// The hardware says so as well where another reason, which it names beside it, made it act; alone it is power.
const POWER: ThrottleReasons = ThrottleReasons::SW_POWER_CAP.union(ThrottleReasons::HW_SLOWDOWN);
const NOT_OF_POWER: ThrottleReasons =
    ThrottleReasons::HW_THERMAL_SLOWDOWN.union(ThrottleReasons::HW_POWER_BRAKE_SLOWDOWN);

/// The state of one GPU.
pub struct GpuState {
    library: Nvml,
    uuid: String,
}

impl GpuState {
    /// Of the GPU with this UUID; `None` where the driver does not say.
    pub fn open(uuid: &str) -> Option<GpuState> {
        let library = Nvml::builder().lib_path(LIBRARY.as_ref()).init().ok()?;
        let state = GpuState { library, uuid: uuid.to_owned() };
        state.clock_mhz().map(|_| state)
    }

    /// Clock of the multiprocessors.
    pub fn clock_mhz(&self) -> Option<u32> {
        self.library.device_by_uuid(self.uuid.as_str()).ok()?.clock_info(Clock::SM).ok()
    }

    /// Why the clock is held back.
    pub fn held_back(&self) -> HeldBack {
        let reasons = self.library.device_by_uuid(self.uuid.as_str()).and_then(|gpu| gpu.current_throttle_reasons());
        HeldBack::of(reasons.unwrap_or(ThrottleReasons::empty()))
    }
}

/// Why the clock of a GPU is held back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HeldBack {
    /// Reasons that lie with the machine, in words.
    pub reasons: Vec<String>,
    /// Whether the power that programs draw is a reason.
    pub by_power: bool,
}

impl HeldBack {
    fn of(reasons: ThrottleReasons) -> HeldBack {
        let of_machine = reasons.difference(HARMLESS).difference(POWER).iter_names();
        HeldBack {
            reasons: of_machine.map(|(name, _)| name.to_lowercase().replace('_', " ")).collect(),
            by_power: reasons.intersects(POWER) && !reasons.intersects(NOT_OF_POWER),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn power_that_programs_draw_is_no_reason_of_the_machine() {
        use ThrottleReasons as Why;
        for (reasons, named, by_power) in [
            (Why::NONE, vec![], false),
            (Why::GPU_IDLE | Why::APPLICATIONS_CLOCKS_SETTING, vec![], false),
            (Why::SW_POWER_CAP, vec![], true),
            (Why::HW_SLOWDOWN, vec![], true),
            (Why::HW_SLOWDOWN | Why::HW_THERMAL_SLOWDOWN, vec!["hw thermal slowdown"], false),
            (Why::HW_SLOWDOWN | Why::HW_POWER_BRAKE_SLOWDOWN, vec!["hw power brake slowdown"], false),
            (Why::SW_POWER_CAP | Why::SW_THERMAL_SLOWDOWN, vec!["sw thermal slowdown"], true),
            (Why::SYNC_BOOST, vec!["sync boost"], false),
        ] {
            let expected = HeldBack { reasons: named.into_iter().map(str::to_owned).collect(), by_power };
            assert_eq!(HeldBack::of(reasons), expected, "{reasons:?}");
        }
    }
}
