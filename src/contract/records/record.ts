/**
 * A record declared once, as data: the columns of its table, what surfaces show of them and under
 * which names, what is fixed once the record is made, and what the export keeps. The row type of
 * the domain, the schema of the contract, the statements of the store and the export all follow
 * from it. A test compares it with the schema of a migrated database.
 */
import type { Static, TObject, TSchema } from '@sinclair/typebox'
import { record } from '../shapes.ts'

/** The value of a column as programs have it. For `jsonb`, the field says more. */
interface Stored {
  uuid: string
  text: string
  integer: number
  bigint: number
  boolean: boolean
  'timestamp with time zone': Date
  jsonb: unknown
  'text[]': string[]
  'integer[]': number[]
  bytea: Buffer
  tsvector: string
}

export interface Field {
  /** The type of the column. A field without one is not stored. */
  type?: keyof Stored
  /** The schema by which surfaces show the field. If that may be null, so may the column. */
  shown?: TSchema
  /** The name under which surfaces show it, if it differs. */
  as?: string
  /** Why surfaces do not show it. Not needed if they show nothing of the record. */
  hidden?: string
  /** The column may be null. Set where `shown` does not say so. */
  null?: true
  /** What the row holds, where neither `shown` nor the type of the column says so. */
  of?: TSchema
  /** Set when the record is made. Saves leave it as it is. */
  fixed?: true
  /** Why the export leaves the column out. */
  unexported?: string
  /**
   * Where the value comes from, unless the row holds it. `query`: the store selects it by an
   * expression, and rows that are written do not have it. `view`: it is made where it is shown.
   * `elsewhere`: other statements read and write the column. `generated`: Postgres makes it from
   * the other columns.
   */
  from?: 'query' | 'view' | 'elsewhere' | 'generated'
}

export type Fields = Readonly<Record<string, Field>>

type IsNullable<F> = F extends { null: true }
  ? true
  : F extends { shown: infer S extends TSchema }
    ? null extends Static<S>
      ? true
      : false
    : false

type Filled<F> = F extends { type: 'timestamp with time zone' }
  ? Date
  : F extends { of: infer S extends TSchema }
    ? Static<S>
    : F extends { shown: infer S extends TSchema }
      ? Exclude<Static<S>, null>
      : F extends { type: infer Type extends keyof Stored }
        ? Stored[Type]
        : never

type Held<F> = IsNullable<F> extends true ? Filled<F> | null : Filled<F>

type HeldRow<Fs> = {
  -readonly [Name in keyof Fs as Fs[Name] extends { from: string } ? never : Name]: Held<Fs[Name]>
}

/**
 * A row as programs have it. A value that the store selects by an expression is absent if the row
 * was not read.
 */
export type RowOf<R> = R extends { fields: infer Fs }
  ? HeldRow<Fs> & {
      -readonly [Name in keyof Fs as Fs[Name] extends { from: 'query' } ? Name : never]?: Held<
        Fs[Name]
      > | null
    }
  : never

/** The part of a row that surfaces show. */
export type ShownRowOf<R extends Declared> = Pick<
  RowOf<R>,
  {
    [Name in keyof R['fields']]: R['fields'][Name] extends { shown: TSchema } ? Name : never
  }[keyof R['fields']] &
    keyof RowOf<R>
>

/** The columns that are null in a new row unless it says otherwise. */
type BlankOf<Fs> = {
  -readonly [Name in keyof Fs as Fs[Name] extends { from: string }
    ? never
    : IsNullable<Fs[Name]> extends true
      ? Name
      : never]: null
}

type Camel<Name> = Name extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<Camel<Rest>>}`
  : Name

type NameOf<Name, F, Case> = F extends { shown: TSchema }
  ? F extends { as: infer As extends string }
    ? As
    : Case extends 'camelCase'
      ? Camel<Name>
      : Name
  : never

type ShownOf<Fs, Case> = {
  -readonly [Name in keyof Fs as NameOf<Name, Fs[Name], Case> & string]: Fs[Name] extends {
    shown: infer S extends TSchema
  }
    ? S
    : never
}

/**
 * How surfaces write the names of a record: like its columns, or in camel case, as in the agent's
 * records.
 */
type Case = 'snake_case' | 'camelCase'

export interface Declared {
  table: string
  /** Why surfaces show nothing of the record. */
  hidden: string | undefined
  fields: Fields
  /** As surfaces show it. */
  schema: TObject
  /** The columns of the row. */
  columns: readonly string[]
  /** The names under which surfaces show fields, by the names of the fields. */
  shown: Readonly<Record<string, string>>
  /** A row with null in each column that may be null. */
  blank: object
}

interface DeclaredAs<N extends string, Fs extends Fields, C extends Case> extends Declared {
  table: N
  fields: Fs
  schema: TObject<ShownOf<Fs, C>>
  blank: BlankOf<Fs>
}

export const isNullable = ({ shown, null: isNull }: Field): boolean =>
  isNull ?? (shown?.anyOf ?? []).some(({ type }: TSchema) => type === 'null')

const camel = (name: string): string =>
  name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())

interface Traits<C extends Case> {
  /** The title of the schema in the OpenAPI document, which must be unique. */
  title?: string
  description?: string
  case?: C
  hidden?: string
}

export const declare = <
  const N extends string,
  const Fs extends Fields,
  C extends Case = 'snake_case',
>(
  table: N,
  { case: names, hidden, ...schema }: Traits<C>,
  fields: Fs,
): DeclaredAs<N, Fs, C> => {
  const all = Object.entries<Field>(fields)
  const held = all.filter(([, { from }]) => !from)
  const nameOf = (name: string, { as }: Field) => as ?? (names === 'camelCase' ? camel(name) : name)
  const shown = all.flatMap(([name, field]) =>
    field.shown ? [[name, nameOf(name, field), field.shown] as const] : [],
  )
  return {
    table,
    hidden,
    fields,
    schema: record(Object.fromEntries(shown.map(([, as, one]) => [as, one])), schema) as never,
    columns: held.map(([name]) => name),
    shown: Object.fromEntries(shown),
    blank: Object.fromEntries(
      held.flatMap(([name, field]) => (isNullable(field) ? [[name, null]] : [])),
    ) as never,
  }
}

/** The columns that an export includes. */
export const exportedOf = ({ fields }: Declared): string[] =>
  Object.entries<Field>(fields).flatMap(([name, { type, unexported }]) =>
    type && unexported === undefined ? [name] : [],
  )
