/**
 * Tells streams of this process what happens in jobs while it happens. What must not be missed is
 * in the table of events.
 */

/** A job, for those who follow it or its conversation. */
export interface Spoken {
  id: string
  conversation_id: string | null
}

/** Of the text of a model's call, which is not stored. */
export type Piece =
  | { kind: 'delta'; job: string; step: number; at: number; text: string }
  /** The text of the step so far does not count: its call begins anew. */
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

/** In characters, for a stream that begins in the middle; the message replaces it in the end. */
const LONGEST_TEXT = 100_000

export class LocalBus {
  /** By the id of a job or a conversation. */
  readonly #listeners = new Map<string, Set<Listener>>()
  /** By the id of the job. */
  readonly #speaking = new Map<string, Speaking>()

  /**
   * Of a job, or of all jobs of a conversation. Begins with the text so far, if a model is
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

  /** `at`: where the piece begins in the text of the step. */
  text(job: Spoken, { step, at, text }: { step: number; at: number; text: string }): void {
    const before = this.#speaking.get(job.id)
    if (before?.step === step && before.text.length < LONGEST_TEXT) before.text += text
    this.#tellAll(job, { kind: 'delta', job: job.id, step, at, text })
  }

  reset(job: Spoken, step: number): void {
    this.#speaking.set(job.id, { job, step, text: '' })
    this.#tellAll(job, { kind: 'reset', job: job.id, step })
  }

  /** The model has stopped speaking: its message follows. */
  silent(job: Spoken): void {
    this.#speaking.delete(job.id)
  }

  /** A job or a conversation has new events, which are committed. */
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
