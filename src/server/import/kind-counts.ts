/** Counts what an archive has of each kind. */
import { exportKinds } from '#contract/app/workspace'

export type ExportKind = (typeof exportKinds)[number]

/** The kind of files, which are parts of their own. */
export const FILE_KIND = 'file'
const KNOWN = new Set<string>([...exportKinds, FILE_KIND])

/** Kinds that this version does not know count as one: an archive can name any number of them. */
export class KindCounts {
  readonly #counts = new Map<string, number>()

  add(kind: string, count = 1): void {
    const counted = KNOWN.has(kind) ? kind : 'unknown'
    this.#counts.set(counted, this.of(counted) + count)
  }

  of(kind: string): number {
    return this.#counts.get(kind) ?? 0
  }

  all(): [kind: string, count: number][] {
    return [...this.#counts]
  }
}
