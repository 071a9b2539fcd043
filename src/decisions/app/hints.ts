/** The hints of a commit: what those who show its records are told. */
import {
  type HintKind,
  hintRules,
  kindOfBareEvent,
  kindOfEventId,
  kindOfOwnWork,
  kindOfResource,
  type RowHint,
  rowHints,
} from '#contract/hints'
import type { ChangedRecord, Effects, Provenance } from '#store/engine/letter'
import type { NewEvent } from '#store/engine/outbox'
import { auditActor } from '#store/engine/principal'
import type { Written } from '#store/engine/sql'

/** That a record has changed. It has no texts. */
export interface ChangeHint {
  /** The operation, the event, or the name of the letter that did it. */
  what: string
  kind: HintKind
  /** Null: there is only one record of the kind, or many have changed. */
  id: string | null
  by: { kind: string; id: string }
  /** Of approvals without an id: the job that asked for them. */
  job?: string
}

/** A letter that has committed. */
export interface CommittedLetter {
  name: string
  provenance: Provenance
  effects: Effects
}

/** If one commit changes more records of a kind, one hint stands for all of them. */
const MOST_OF_A_KIND = 20

export const isHintKind = (kind: string): kind is HintKind => Object.hasOwn(hintRules, kind)

/** Whether a record of the kind may belong to a private conversation. */
export const isPrivate = (kind: HintKind): boolean => 'private' in hintRules[kind]

/** Of an operation, or of what the audit records of the server's own work. */
export const kindOfDeed = (operation: string): HintKind | undefined => {
  const prefix = operation.slice(0, operation.lastIndexOf('.'))
  const kinds: Record<string, HintKind | null> = kindOfResource
  return kinds[prefix] ?? kindOfOwnWork[prefix]
}

/** What the data of an event name. */
const ofEvent = ({ type, data }: Pick<NewEvent, 'type' | 'data'>): ChangedRecord[] => {
  const bare = kindOfBareEvent[type]
  if (bare) return [{ kind: bare, id: null }]
  return Object.entries(data).flatMap(([name, id]) => {
    const kind = kindOfEventId[name]
    return kind && typeof id === 'string' ? [{ kind, id }] : []
  })
}

const ofRow = ([kind, column]: RowHint, row: Record<string, unknown>): ChangedRecord[] => {
  if (column === null) return [{ kind, id: null }]
  const id = row[column]
  if (typeof id === 'string') return [{ kind, id }]
  return kind === 'approval' ? [{ kind, id: null, job: String(row.job_id) }] : []
}

const ofRows = ({ table, rows }: Written): ChangedRecord[] =>
  (rowHints[table] ?? []).flatMap((hint) =>
    rows === 'some'
      ? [{ kind: hint[0], id: null }]
      : rows.flatMap((row) => ofRow(hint, row as never)),
  )

const keyOf = ({ kind, id, job = '' }: ChangedRecord): string => `${kind} ${id} ${job}`

/** Private records are named one by one, because it depends on each who may be told. */
const withoutMany = (news: readonly ChangedRecord[]): ChangedRecord[] => {
  const once = [...new Map(news.map((one) => [keyOf(one), one])).values()]
  return [...Map.groupBy(once, ({ kind }) => kind)].flatMap(([kind, all]) => {
    const isMany = all.length > MOST_OF_A_KIND || all.some(({ id }) => id === null)
    return isMany && isHintKind(kind) && !isPrivate(kind) ? [{ kind, id: null }] : all
  })
}

/**
 * What the audit row and the events say, and of the other records that were written or are news,
 * that they have changed. The audit row may name the record that an operation has made, of another
 * kind than that of its resource.
 */
export const hintsOf = ({ name, provenance, effects }: CommittedLetter): ChangeHint[] => {
  const { audit, events = [], news = [], first = [], writes = [] } = effects
  const { kind, id } = audit?.by ?? auditActor(provenance.principal)
  const by = { kind, id }
  const written = [...first, ...writes].flatMap((query) =>
    query.writes ? ofRows(query.writes) : [],
  )
  const deed =
    audit && (written.find((one) => one.id === audit.refId)?.kind ?? kindOfDeed(audit.operation))
  const said = [
    ...(audit && deed ? [{ what: audit.operation, kind: deed, id: audit.refId ?? null, by }] : []),
    ...events.flatMap((event) => ofEvent(event).map((one) => ({ what: event.type, ...one, by }))),
  ]
  const known = new Set(said.map(keyOf))
  const others = withoutMany([...news, ...written].filter((one) => !known.has(keyOf(one))))
  const what = audit?.operation ?? name
  return [...said, ...others.map((one) => ({ what, ...one, by }))].filter(
    (hint): hint is ChangeHint => isHintKind(hint.kind),
  )
}
