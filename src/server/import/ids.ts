/**
 * The ids of an import. Each record of the archive gets the id that follows from its old one by a
 * key of this import alone, so nobody who writes an archive can choose an id, and no map has to be
 * held: the same old id leads to the same new one wherever the archive names it.
 */
import { createHmac, randomBytes } from 'node:crypto'
import type { ExportKind } from './kind-counts.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const SEVEN = /^[0-9a-f]{8}-[0-9a-f]{4}-7/
/** 2020: no id of ours is older. */
const EARLIEST_MS = 1_577_836_800_000

const timeOf = (id: string): number => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)

/** The first half of a uuid v7, by which records are ordered. */
const orderOf = (id: string, now: number, hash: string): string => {
  if (SEVEN.test(id) && timeOf(id) >= EARLIEST_MS && timeOf(id) <= now) return id.slice(0, 18)
  const time = now.toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hash.slice(0, 3)}`
}

/** The most ids that are remembered: each takes some 100 bytes. */
const MOST_KNOWN = 1_000_000

export class ImportIds {
  readonly #known = new Map<ExportKind, Set<string>>()
  readonly #key = randomBytes(32)
  readonly #now = Date.now()
  /** The ids of the archive hold here too. */
  #kept = false
  #size = 0

  keep(kept: boolean): void {
    this.#kept = kept
  }

  get isKeeping(): boolean {
    return this.#kept
  }

  /** Whether there is room for it. */
  add(kind: ExportKind, id: string): boolean {
    if (this.#size === MOST_KNOWN) return false
    this.#size++
    const ids = this.#known.get(kind) ?? new Set()
    this.#known.set(kind, ids.add(id.toLowerCase()))
    return true
  }

  has(kind: ExportKind, id: unknown): boolean {
    return typeof id === 'string' && this.#known.get(kind)?.has(id.toLowerCase()) === true
  }

  /** The id by which a record of the archive is known here, whether or not it is there. */
  of(id: string): string {
    const old = id.toLowerCase()
    if (this.#kept) return old
    const hash = createHmac('sha256', this.#key).update(old).digest('hex')
    const variant = (0x8 | (Number.parseInt(hash[3]!, 16) & 0x3)).toString(16)
    return `${orderOf(old, this.#now, hash)}-${variant}${hash.slice(4, 7)}-${hash.slice(7, 19)}`
  }

  /** The same if the archive has a record of that kind and id that is taken; otherwise null. */
  ref(kind: ExportKind, id: string | null): string | null {
    return id !== null && this.has(kind, id) ? this.of(id) : null
  }

  /** A JSON value with each id in it by its new name. */
  within<T>(value: T): T {
    if (typeof value === 'string') return (UUID.test(value) ? this.of(value) : value) as T
    if (Array.isArray(value)) return value.map((one) => this.within(one)) as T
    if (value === null || typeof value !== 'object') return value
    return Object.fromEntries(
      Object.entries(value).map(([name, one]) => [name, this.within(one)]),
    ) as T
  }
}
