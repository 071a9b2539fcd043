/**
 * Requests under Idempotency-Keys. Under each key only one runs at a time, until there is an answer
 * to replay.
 */
import { AppError } from '#kernel/errors'
import type { Db } from '#store/engine/db'
import { stateOfKey } from '#store/engine/idempotency'
import type { Ownership } from '#store/engine/letter'
import type { Letter } from './letter.ts'
import type { Waiters } from './waiters.ts'

/** A request in flight under an Idempotency-Key. */
interface InFlight {
  fingerprint: string
  /** Settles with the letter; from then on this process knows who waits for its outcome. */
  over: Promise<unknown>
}

/** `over` is called when the letter is over, `answered` when its caller also has an answer. */
export interface Watch {
  over?(): void
  answered?(): unknown
}

export class KeyedRequests {
  readonly #inFlight = new Map<string, InFlight>()

  constructor(
    private readonly own: Pick<Ownership, 'tenantId'>,
    private readonly db: Pick<Db, 'read'>,
    private readonly waiters: Pick<Waiters, 'has'>,
  ) {}

  get idle(): boolean {
    return this.#inFlight.size === 0
  }

  /** Runs a request, after any other in flight under its key. */
  async run<R>(letter: Letter<R>, request: (watch?: Watch) => Promise<R>): Promise<R> {
    if (!letter.claim) return request()
    const { key, fingerprint } = letter.claim
    const other = this.#inFlight.get(key)
    if (other === undefined) {
      const { promise: over, resolve } = Promise.withResolvers<void>()
      this.#inFlight.set(key, { fingerprint, over })
      return request({ over: resolve, answered: () => this.#inFlight.delete(key) })
    }
    if (!(await this.#replays(letter, key, other)))
      throw new AppError(
        other.fingerprint === fingerprint ? 'idempotency_in_flight' : 'idempotency_key_reused',
      )
    return request()
  }

  /**
   * Whether the letter will find an answer stored under its key, or a record whose first caller has
   * stopped waiting.
   */
  async #replays({ provenance }: Letter<unknown>, key: string, other: InFlight): Promise<boolean> {
    const [kept] = await this.db.read(
      { tenantId: this.own.tenantId, caller: provenance.principal },
      stateOfKey(key),
    )
    if (kept?.state !== 'pending') return kept !== undefined
    // The row is visible once committed, perhaps before this process learns of the commit.
    await other.over
    return !this.waiters.has(kept.ref_id!)
  }
}
