/** What becomes of the records of a kind when an archive is imported. */
import type { TSchema } from '@sinclair/typebox'
import type { Declared } from '#contract/records/record'
import type { Query } from '#store/engine/db'
import type { ImportIds } from './ids.ts'
import { type ExportedRow, type RowForm, rowSchema } from './row.ts'

/** The longest of our own texts and of those of others, in UTF-16 code units. */
export const LONG = 200_000

/** What the rows of a new workspace follow from, besides the archive. */
export interface ImportContext {
  ids: ImportIds
  /**
   * Whether this deployment vouches for the archive. Without that, its texts count as those of
   * people outside, and nothing in it speaks for anybody.
   */
  sealed: boolean
  now: Date
  /** Of the workspace's profile. */
  language: string
}

/**
 * So many of something the workspace may have. A workspace that is exported while people work in it
 * can show more, since no two groups of records are of one moment: the rest is left out.
 */
interface ImportBound {
  of: string
  most: number
  /** How many it takes up; one if absent. */
  takes?: number
}

/** Records of the kind are left out. */
interface LeftOut {
  leaves: string
}

export interface TakenOver {
  form: RowForm
  /** Set for what names records that come after it in an export: it is written last. */
  late: boolean
  /** Set for what others may name, and for what its id alone tells apart: an id may come once. */
  isNamed: boolean
  idOf(row: never): string
  /** What of it no other record of the kind may have. */
  uniqueBy(row: never): readonly string[]
  /** Whether the records that it cannot be without are taken over. */
  belongs(row: never, ids: ImportIds): boolean
  /** Why it cannot be taken over, if so. */
  refuses(row: never, arrival: ImportContext): string | undefined
  bounds(row: never, arrival: ImportContext): readonly ImportBound[]
  /** The row as it arrives. */
  arrives(row: never, arrival: ImportContext): { [column: string]: unknown }
  /** The columns that tell rows from each other where ids are not remembered. */
  key?: readonly string[]
  /** The statements that write it, where a row of columns is not all. */
  writes?(row: never, arrival: ImportContext): readonly Query[]
  /** Statements that follow the rows of a group, by the transactions that they share. */
  follows?(rows: readonly never[]): Iterable<readonly Query[]>
}

export type KindRule = LeftOut | TakenOver

/** The rule of a kind, with its particulars. `Given`: the record as it is exported. */
interface Particulars<Given, Row extends object> {
  shapes?: Readonly<Record<string, TSchema>>
  longest?: number
  late?: true
  unnamed?: true
  idOf?(row: Given): string
  uniqueBy?(row: Given): readonly string[]
  belongs?(row: Given, ids: ImportIds): boolean
  refuses?(row: Given, arrival: ImportContext): string | undefined
  bounds?(row: Given, arrival: ImportContext): readonly ImportBound[]
  arrives(row: Given, arrival: ImportContext): Row
  key?: readonly string[]
  writes?(row: Row, arrival: ImportContext): readonly Query[]
  follows?(rows: readonly Row[]): Iterable<readonly Query[]>
}

export const importedAs = <R extends Declared, Row extends object, Given = ExportedRow<R>>(
  record: R,
  { shapes, longest, late, unnamed, ...rule }: Particulars<Given, Row>,
): TakenOver =>
  ({
    form: { record, schema: rowSchema(record, shapes), ...(longest ? { longest } : {}) },
    late: late === true,
    isNamed: unnamed !== true,
    idOf: ({ id }: { id: string }) => id,
    uniqueBy: () => [],
    belongs: () => true,
    refuses: () => undefined,
    bounds: () => [],
    ...rule,
  }) as TakenOver

/** Whoever wrote or decided something elsewhere is nobody here; the operator has brought it. */
export const importer = { kind: 'system', id: 'operator' } as const

/** Who wrote it; null where a drafter did. */
export const writerOf = (author: object | null): typeof importer | null => author && importer

/** A uuid that no key, person or job has. */
export const NOBODY = '00000000-0000-0000-0000-000000000000'

/** What was under way elsewhere does not go on here. */
export const settledGeneration = <Row extends { status: string; error: string | null }>({
  status,
  error,
}: Row): { status: string; error: string | null } =>
  status === 'queued' || status === 'generating'
    ? { status: 'failed', error: 'cancelled' }
    : { status, error }
