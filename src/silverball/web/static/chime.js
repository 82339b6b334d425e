// Three tones. Browsers play no sound before the first touch of a page.

// Frequencies in hertz, one after the other.
export const RISING = [880, 1175, 1568];
export const FALLING = [1568, 1175, 880];
const TONE_SECONDS = 0.22;

let sound = null;

function allowSound() {
  try {
    sound ??= new AudioContext();
    sound.resume();
  } catch {
    // The page still shows what there is to hear.
  }
}

export function play(tones) {
  if (sound?.state !== "running") return;
  tones.forEach((frequency, index) => {
    const tone = sound.createOscillator();
    const volume = sound.createGain();
    const begin = sound.currentTime + index * TONE_SECONDS;
    tone.frequency.value = frequency;
    volume.gain.setValueAtTime(0.3, begin);
    volume.gain.linearRampToValueAtTime(0, begin + TONE_SECONDS);
    tone.connect(volume).connect(sound.destination);
    tone.start(begin);
    tone.stop(begin + TONE_SECONDS);
  });
}

addEventListener("pointerdown", allowSound, { once: true });
addEventListener("keydown", allowSound, { once: true });
