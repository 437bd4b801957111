//! What a GPU's driver says of its state, by NVML: read, never set.

use nvml_wrapper::Nvml;
use nvml_wrapper::bitmasks::device::ThrottleReasons;
use nvml_wrapper::enum_wrappers::device::Clock;

/// The library that every driver brings.
const LIBRARY: &str = "libnvidia-ml.so.1";

/// Reasons that have nothing to do with the machine's health: a GPU without work, limits somebody chose, and the power that
/// the programs themselves draw.
const HARMLESS: ThrottleReasons = ThrottleReasons::GPU_IDLE
    .union(ThrottleReasons::APPLICATIONS_CLOCKS_SETTING)
    .union(ThrottleReasons::DISPLAY_CLOCK_SETTING)
    .union(ThrottleReasons::SW_POWER_CAP);

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

    /// Why the clock is held back, those reasons left out that are harmless.
    pub fn throttled(&self) -> Vec<String> {
        let reasons = self.library.device_by_uuid(self.uuid.as_str()).and_then(|gpu| gpu.current_throttle_reasons());
        let reasons = reasons.unwrap_or(ThrottleReasons::empty()).difference(HARMLESS);
        reasons
            .iter_names()
            .map(|(name, _)| name.to_lowercase().replace('_', " "))
            .filter(|name| name != "none")
            .collect()
    }
}
