/** Tells streams of this process what happens in jobs while it happens. What must not be missed is in the table of events. */

export type JobNews =
  | { kind: 'text'; step: number; at: number; text: string }
  | { kind: 'reset'; step: number }
  /** The job may have new events. */
  | { kind: 'changed' }

type Listener = (news: JobNews) => void

/** The text of a model's call so far, for streams that begin in the middle. */
interface Speaking {
  step: number
  text: string
}

/** In characters, for a stream that begins in the middle; the message replaces it in the end. */
const LONGEST_TEXT = 100_000

export class LocalBus {
  readonly #listeners = new Map<string, Set<Listener>>()
  readonly #speaking = new Map<string, Speaking>()

  /** Begins with the text so far, if the model is speaking. */
  subscribe(jobId: string, listener: Listener): Disposable {
    const all = this.#listeners.get(jobId) ?? new Set()
    this.#listeners.set(jobId, all.add(listener))
    const speaking = this.#speaking.get(jobId)
    if (speaking && speaking.text !== '') listener({ kind: 'text', step: speaking.step, at: 0, text: speaking.text })
    return {
      [Symbol.dispose]: () => {
        all.delete(listener)
        if (all.size === 0) this.#listeners.delete(jobId)
      },
    }
  }

  text(jobId: string, { step, at, text }: { step: number; at: number; text: string }): void {
    const before = this.#speaking.get(jobId)
    if (before?.step === step && before.text.length < LONGEST_TEXT) before.text += text
    this.#tell(jobId, { kind: 'text', step, at, text })
  }

  reset(jobId: string, step: number): void {
    this.#speaking.set(jobId, { step, text: '' })
    this.#tell(jobId, { kind: 'reset', step })
  }

  changed(jobId: string): void {
    this.#tell(jobId, { kind: 'changed' })
  }

  /** The model has stopped speaking: its message follows. */
  silent(jobId: string): void {
    this.#speaking.delete(jobId)
  }

  #tell(jobId: string, news: JobNews): void {
    for (const listener of this.#listeners.get(jobId) ?? []) listener(news)
  }
}
