/** Judges each record of an archive by itself: it is taken over, or left out for a reason. */
import { fail } from '#kernel/errors'
import type { ImportBound, ImportContext, KindRule, TakenOver } from './kind.ts'
import { ruleOf } from './kinds.ts'
import type { ArchivedRecord, ExportKind } from './read.ts'
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

/** The id as a report shows it, whatever stands in its place. */
const shownId = ({ id, person_id, job_id, tenant_id }: Record<string, unknown>): string =>
  String(id ?? person_id ?? job_id ?? tenant_id ?? '').slice(0, MOST_SHOWN)

const isTakenOver = (rule: KindRule): rule is TakenOver => !('leaves' in rule)

export const TWICE = 'the archive has it twice'
const ALONE = 'what it belongs to is not taken over'

export class Judge {
  readonly #unique = new Set<string>()
  readonly #used = new Map<string, number>()

  constructor(
    private readonly arrival: ImportContext,
    /** Whether all ids of the archive are known, and bounds have been looked at before. */
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
    const marks = [...(rule.isNamed ? [id.toLowerCase()] : []), ...rule.uniqueBy(row as never)]
    if (marks.some((mark) => this.#unique.has(`${kind} ${mark}`))) return TWICE
    for (const mark of marks) this.#unique.add(`${kind} ${mark}`)
    if (this.isLast) return undefined
    if (rule.isNamed && !ids.add(kind, id))
      fail('invalid_input', 'the archive has more records than any workspace')
    for (const bound of rule.bounds(row as never)) this.#use(bound)
    return undefined
  }

  #use({ of, most, takes = 1 }: ImportBound): void {
    const used = this.used(of) + takes
    this.#used.set(of, used)
    if (used > most)
      fail(
        'conflict',
        `the archive has more than ${most} ${of}, the most that a workspace can have: nothing was imported`,
        { reason: 'limit_reached' },
      )
  }

  used(of: string): number {
    return this.#used.get(of) ?? 0
  }
}

export const isLeft = (verdict: TakenRecord | Left): verdict is Left => 'reason' in verdict
