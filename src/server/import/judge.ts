/** Judges each record of an archive by itself: it is taken over, or left out for a reason. */
import { createHash } from 'node:crypto'
import { fail } from '#kernel/errors'
import type { ImportContext, KindRule, TakenOver } from './kind.ts'
import type { ExportKind } from './kind-counts.ts'
import { ruleOf } from './kinds.ts'
import type { ArchivedRecord } from './read.ts'
import { readRow } from './row.ts'

/** A record that is taken over, as the archive has it. */
export interface TakenRecord {
  kind: ExportKind
  rule: TakenOver
  id: string
  row: Record<string, unknown>
}

export interface Left {
  kind: string
  id: string
  /** Why it is left out. */
  reason: string
}

const MOST_SHOWN = 80

/** Where records have no id: what they belong to, and which of it they are. */
const KEYS = ['person_id', 'job_id', 'record_id', 'document_id', 'source_id', 'name', 'tenant_id']
const PLACES = ['number', 'seq', 'event_id']

/** The id as a report shows it, whatever stands in its place. */
const shownId = (record: Record<string, unknown>): string => {
  const has = (name: string): boolean => record[name] !== undefined && record[name] !== null
  const names = has('id') ? ['id'] : [...KEYS.filter(has).slice(0, 1), ...PLACES.filter(has)]
  return names
    .map((name) => String(record[name]))
    .join(' ')
    .slice(0, MOST_SHOWN)
}

const isTakenOver = (rule: KindRule): rule is TakenOver => !('leaves' in rule)

export const TWICE = 'the archive has it twice'
const ALONE = 'what it belongs to is not taken over'

/** There may be many, of any length, and all are remembered. */
const hashOf = (mark: string): string => createHash('sha256').update(mark).digest('base64')

export class Judge {
  readonly #unique = new Set<string>()
  readonly #used = new Map<string, number>()

  constructor(
    private readonly arrival: ImportContext,
    /** Whether all ids of the archive are known, since it has been read before. */
    private readonly isLast: boolean,
  ) {}

  judge({ kind, record }: ArchivedRecord): TakenRecord | Left {
    const rule = ruleOf(kind)
    if (!isTakenOver(rule)) return { kind, id: shownId(record), reason: rule.leaves }
    const row = readRow(rule.form, record)
    if (typeof row === 'string') return { kind, id: shownId(record), reason: row }
    const taken = { kind: kind as ExportKind, rule, id: rule.idOf(row as never), row }
    const reason = this.#faultOf(taken)
    return reason === undefined ? taken : { kind, id: taken.id, reason }
  }

  #faultOf({ kind, rule, id, row }: TakenRecord): string | undefined {
    const { ids } = this.arrival
    const refused = rule.refuses(row as never, this.arrival)
    if (refused !== undefined) return refused
    // References of what others may name go back, so that it is known at once whether they hold.
    if ((rule.isNamed || this.isLast) && !rule.belongs(row as never, ids)) return ALONE
    const marks = [
      ...(rule.isNamed ? [`${kind} ${id}`] : []),
      ...rule.uniqueBy(row as never).map((mark) => hashOf(`${kind} ${mark}`)),
    ]
    if (marks.some((mark) => this.#unique.has(mark))) return TWICE
    const excess = this.#count({ kind, rule, id, row })
    if (excess !== undefined) return excess
    for (const mark of marks) this.#unique.add(mark)
    return undefined
  }

  /**
   * What others may name counts in each reading, so that the same is left out of each. Anything
   * else may belong to a record that comes after it, so it counts once all ids are known: what is
   * left out takes up nothing.
   */
  #count({ kind, rule, id, row }: TakenRecord): string | undefined {
    if (!rule.isNamed && !this.isLast) return undefined
    const bounds = rule.bounds(row as never, this.arrival)
    const excess = bounds.find(({ of, most, takes = 1 }) => this.used(of) + takes > most)
    if (excess)
      return `it is beyond ${excess.most} ${excess.of}, the most that a workspace can have`
    for (const { of, takes = 1 } of bounds) this.#used.set(of, this.used(of) + takes)
    if (!this.isLast && !this.arrival.ids.add(kind, id))
      fail('invalid_input', 'the archive has more records than any workspace')
    return undefined
  }

  used(of: string): number {
    return this.#used.get(of) ?? 0
  }
}

export const isLeft = (verdict: TakenRecord | Left): verdict is Left => 'reason' in verdict
