/**
 * Tells streams in this process what happens in jobs as it happens. Anything that must not be
 * missed is in the table of events.
 */

/** Identifies a job to those who follow it or its conversation. */
export interface Spoken {
  id: string
  conversation_id: string | null
}

/** Text of a model call, which is not stored. */
export type Piece =
  | { kind: 'delta'; job: string; step: number; at: number; text: string }
  /** The step's text so far is void, because its call begins again. */
  | { kind: 'reset'; job: string; step: number }

/** `changed`: there may be new events. */
export type JobNews = Piece | { kind: 'changed' }

type Listener = (news: JobNews) => void

/** The text of a model's call so far, for streams that begin in the middle. */
interface Speaking {
  job: Spoken
  step: number
  text: string
}

/**
 * In characters: what is kept for a stream that begins in the middle. The finished message replaces
 * it.
 */
const LONGEST_TEXT = 100_000

export class LocalBus {
  /** By id of a job or a conversation. */
  readonly #listeners = new Map<string, Set<Listener>>()
  /** By id of the job. */
  readonly #speaking = new Map<string, Speaking>()

  /**
   * Follows a job, or all jobs of a conversation. Delivers the text so far first, if a model is
   * speaking.
   */
  subscribe(id: string, listener: Listener): Disposable {
    const all = this.#listeners.get(id) ?? new Set()
    this.#listeners.set(id, all.add(listener))
    for (const { job, step, text } of this.#speaking.values())
      if (text !== '' && (job.id === id || job.conversation_id === id))
        listener({ kind: 'delta', job: job.id, step, at: 0, text })
    return {
      [Symbol.dispose]: () => {
        all.delete(listener)
        if (all.size === 0 && this.#listeners.get(id) === all) this.#listeners.delete(id)
      },
    }
  }

  /** `at`: the offset of the piece in the step's text. */
  text(job: Spoken, { step, at, text }: { step: number; at: number; text: string }): void {
    const before = this.#speaking.get(job.id)
    if (before?.step === step && before.text.length < LONGEST_TEXT) before.text += text
    this.#tellAll(job, { kind: 'delta', job: job.id, step, at, text })
  }

  reset(job: Spoken, step: number): void {
    this.#speaking.set(job.id, { job, step, text: '' })
    this.#tellAll(job, { kind: 'reset', job: job.id, step })
  }

  /** The model has finished speaking, and its message follows. */
  silent(job: Spoken): void {
    this.#speaking.delete(job.id)
  }

  /** A job or a conversation has new, committed events. */
  changed(id: string): void {
    this.#tell(id, { kind: 'changed' })
  }

  #tellAll({ id, conversation_id }: Spoken, news: JobNews): void {
    this.#tell(id, news)
    if (conversation_id !== null) this.#tell(conversation_id, news)
  }

  #tell(id: string, news: JobNews): void {
    for (const listener of this.#listeners.get(id) ?? []) listener(news)
  }
}
