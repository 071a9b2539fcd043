/**
 * The secret keys that a process knows. Usually that is one. While the key is rotated there are
 * two, and the database says which of them new values are made under; a process learns that at its
 * start and with each beat.
 *
 *   state of the database        new values      accepted           what is needed to serve
 *   ──────────────────────────   ─────────────   ────────────────   ───────────────────────────────
 *   no rows: never rotated       of the canary   all that it knows  the key of the canary
 *   one `new`, one `old`         under `new`     all that it knows  both; commands need `new` alone
 *                                                                   once all is sealed anew
 *   one `new`, others `dropped`  under `new`     all but dropped    `new`
 *
 * What keeps every value readable and every token valid:
 * 1. A key becomes `new` only when every living process knows it, and a process that does not know
 *    it cannot join afterwards. So whatever is made can be read by all.
 * 2. A process accepts a key that it knows before the database names it, so it makes no difference
 *    which of them hears of the change first.
 * 3. A key is `dropped` only when nothing is sealed under it and no process makes anything under it
 *    any more. A dropped key never comes back.
 */
import { deriveKey, type SecretKey, secretKeyOf } from './secret.ts'

type SecretKeyState = 'old' | 'new' | 'dropped'

/** A key that takes or took part in a rotation, as the database knows it. */
export interface SecretKeyRow {
  fingerprint: string
  state: SecretKeyState
  /** Whether all that was sealed under other keys has been sealed under this one. */
  sealed: boolean
}

/** The keys of these rows that a server must know, so that it signs nobody out. */
export const keysToServe = (rows: readonly SecretKeyRow[]): string[] =>
  rows.flatMap(({ fingerprint, state }) => (state === 'dropped' ? [] : fingerprint))

/** The keys of these rows without which something that is stored could not be read. */
export const neededKeys = (rows: readonly SecretKeyRow[]): string[] => {
  const isSealed = rows.some(({ state, sealed }) => state === 'new' && sealed)
  return rows.flatMap(({ fingerprint, state }) =>
    state === 'new' || (state === 'old' && !isSealed) ? fingerprint : [],
  )
}

type BulkPurpose = Exclude<Parameters<typeof deriveKey>[1], `password of ${string}`>

/** Keys derived for one purpose. */
export interface DerivedKeys {
  newest(): Buffer
  /** The newest first. */
  accepted(): Buffer[]
}

export class SecretKeys {
  #newest: SecretKey
  #accepted: readonly SecretKey[]
  #rows: readonly SecretKeyRow[] = []
  readonly #stranded = Promise.withResolvers<string[]>()
  /** The fingerprint of the key that the logins of its pools are derived from, if they are. */
  login: string | undefined

  /** `newest`: the key that the database knows, before it says anything about rotation. */
  constructor(
    readonly known: readonly SecretKey[],
    newest: SecretKey = known[0]!,
  ) {
    this.#newest = newest
    this.#accepted = [newest, ...known.filter((key) => key !== newest)]
  }

  /** The key that new values are made under. */
  get newest(): SecretKey {
    return this.#newest
  }

  /** The newest first. */
  get accepted(): readonly SecretKey[] {
    return this.#accepted
  }

  /** A key that the database has not seen yet: the next rotation may rotate to it. */
  get candidate(): SecretKey | undefined {
    return this.known.find(
      (key) =>
        key !== this.#newest && !this.#rows.some((row) => row.fingerprint === key.fingerprint),
    )
  }

  /** The old key of a rotation that is not over, if this process knows it. */
  get old(): SecretKey | undefined {
    const row = this.#rows.find(({ state }) => state === 'old')
    return row && this.find(row.fingerprint)
  }

  /** Whether a rotation has dropped the key. */
  readonly isDropped = (fingerprint: string): boolean =>
    this.#rows.some((row) => row.fingerprint === fingerprint && row.state === 'dropped')

  /** Whether the last rotation is over: its old key was dropped. */
  get isRotated(): boolean {
    const states = this.#rows.map(({ state }) => state)
    return states.includes('dropped') && !states.includes('old')
  }

  find(fingerprint: string): SecretKey | undefined {
    return this.known.find((key) => key.fingerprint === fingerprint)
  }

  /**
   * Resolves once the database needs keys that this process does not know, which must not serve any
   * longer.
   */
  get stranded(): Promise<string[]> {
    return this.#stranded.promise
  }

  /** Follows the database. Returns the keys that are needed but not known. */
  read(rows: readonly SecretKeyRow[]): string[] {
    const missing = neededKeys(rows).filter((fingerprint) => !this.find(fingerprint))
    if (missing.length > 0) this.#stranded.resolve(missing)
    this.#rows = rows
    const row = rows.find(({ state }) => state === 'new')
    const newest = row && this.find(row.fingerprint)
    if (missing.length > 0 || !newest) return missing
    this.#newest = newest
    this.#accepted = [
      newest,
      ...this.known.filter((key) => key !== newest && !this.isDropped(key.fingerprint)),
    ]
    return []
  }

  /** Each is derived once. */
  derived(purpose: BulkPurpose): DerivedKeys {
    const made = new Map<SecretKey, Buffer>()
    const of = (key: SecretKey): Buffer =>
      made.getOrInsertComputed(key, ({ bytes }) => deriveKey(bytes, purpose))
    return { newest: () => of(this.#newest), accepted: () => this.#accepted.map(of) }
  }
}

/** Of a process that knows one key. */
export const soleKey = (bytes: Buffer): SecretKeys => new SecretKeys([secretKeyOf(bytes)])
