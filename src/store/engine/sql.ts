/**
 * Statements as data. A template literal and those nested in it form a tree. The text is made once
 * for each shape of tree, and prepared. After that, only the parameters are gathered.
 */
import type postgres from 'postgres'

// biome-ignore lint/suspicious/noExplicitAny: a statement whose row nobody has described
type AnyRow = any

/** A value that is passed to a statement. Arrays become Postgres arrays. */
type Value =
  | string
  | number
  | bigint
  | boolean
  | Date
  | Uint8Array
  | null
  | readonly string[]
  | readonly number[]
  | Json
type Argument = Value | Fragment | readonly Fragment[] | Text | Rows

/** A JSON value for a column of type `jsonb`. */
class Json {
  constructor(readonly value: unknown) {}
}

/** Text that goes into the statement unchanged: a quoted name, or a part of the source. */
class Text {
  constructor(readonly text: string) {}
}

/** The columns and values of an insert. */
class Rows {
  readonly columns: readonly string[]
  readonly rows: readonly Record<string, Value>[]
  constructor(rows: object | readonly object[]) {
    this.rows = (Array.isArray(rows) ? rows : [rows]) as readonly Record<string, Value>[]
    this.columns = Object.keys(this.rows[0] ?? {})
  }
}

/** Runs a statement. */
type Run = (statement: Fragment) => Promise<AnyRow[]>

/**
 * A statement or a part of one. It runs each time it is awaited, and can be used inside another
 * template.
 */
export class Fragment<Row = unknown> implements PromiseLike<Row[]> {
  constructor(
    readonly strings: readonly string[],
    readonly args: readonly Argument[],
    private readonly run: Run,
  ) {}

  // biome-ignore lint/suspicious/noThenProperty: awaiting a statement runs it, as with the client's own templates
  then<A = Row[], B = never>(
    done?: ((rows: Row[]) => A | PromiseLike<A>) | null,
    failed?: ((cause: unknown) => B | PromiseLike<B>) | null,
  ) {
    return this.run(this).then(done, failed)
  }
}

/**
 * Makes statements: `` sql`select …` `` of rows, `sql('name')` an identifier or a list of them,
 * `sql(record)` the columns and values of an insert.
 */
export interface Sql {
  <Row = unknown>(strings: TemplateStringsArray, ...args: readonly Argument[]): Fragment<Row>
  (name: string | readonly string[]): Text
  (rows: object | readonly object[]): Rows
  json(value: unknown): Json
  /** SQL from the source, never from a value, because each text makes a statement of its own. */
  raw(text: string): Text
}

/** A statement that is created by the code that runs it. */
export interface Query<Row = unknown> {
  (sql: Sql): Fragment<Row>
  /** The rows that it writes, so that those who show them can be told. */
  readonly writes?: Written
}

/** Rows of a table, or what is known of each. `some`: nothing is known of them. */
export interface Written {
  table: string
  rows: readonly object[] | 'some'
}

/** A statement of its own that writes rows of a declared record. */
export const writing = (writes: Written, query: (sql: Sql) => Fragment): Query =>
  Object.assign((sql: Sql) => query(sql), { writes })

const isTemplate = (first: unknown): first is TemplateStringsArray =>
  Array.isArray(first) && 'raw' in first

const quoteName = (name: string): string => `"${name.replaceAll('"', '""').replaceAll('.', '"."')}"`

const namesOf = (first: string | object): Text | undefined => {
  if (typeof first === 'string') return new Text(quoteName(first))
  return Array.isArray(first) && typeof first[0] === 'string'
    ? new Text(first.map(quoteName).join())
    : undefined
}

const means = {
  json: (value: unknown): Json => new Json(value),
  raw: (text: string): Text => new Text(text),
}

/** A tag whose statements run by `run`. */
export const sqlBy = (run: Run): Sql => {
  const tag = (first: TemplateStringsArray | string | object, ...args: Argument[]) =>
    isTemplate(first)
      ? new Fragment(first, args, run)
      : (namesOf(first) ?? new Rows(first as object))
  return Object.assign(tag, means) as Sql
}

/** A tag for statements that are only parts of others. */
export const fragments: Sql = sqlBy(() =>
  Promise.reject(new Error('this statement is only a part of another')),
)

/**
 * A node of the tree of shapes. It stands for what has been passed so far on the way through a
 * statement.
 */
class Shape {
  /** Set where a statement has ended. */
  text: string | undefined
  /**
   * The types of the parameters, by the client's rules. A null gets the type of an earlier value.
   */
  readonly types: number[] = []
  readonly #next = new Map<unknown, Map<number, Shape>>()

  /** The shape after `part`, where `parameters` come before it. These two determine the text. */
  to(part: unknown, parameters: number): Shape {
    return this.#next.get(part)?.get(parameters) ?? this.#add(part, parameters)
  }

  #add(part: unknown, parameters: number): Shape {
    if (++shapes > MOST_SHAPES) forgetShapes()
    const next = new Shape()
    const others = this.#next.get(part) ?? new Map<number, Shape>()
    this.#next.set(part, others.set(parameters, next))
    return next
  }
}

/**
 * More shapes than there can be: they come from templates in the source and from the lengths of
 * lists, which are bounded.
 */
const MOST_SHAPES = 50_000
let shapes = 0
let root = new Shape()
const forgetShapes = (): void => {
  shapes = 0
  root = new Shape()
}

const isPart = (argument: unknown): argument is Fragment | Text | Rows =>
  argument instanceof Fragment || argument instanceof Text || argument instanceof Rows

/** An empty array counts as a value, not as a list. */
const isList = (argument: unknown): argument is readonly Fragment[] =>
  Array.isArray(argument) && argument[0] instanceof Fragment

const LIST = Symbol('list')

/**
 * Walks through a statement in the order of its text, gathers its parameters, and returns its
 * shape.
 */
const walk = (at: Shape, part: Fragment | Text | Rows, values: Value[]): Shape => {
  if (part instanceof Text) return at.to(part.text, values.length)
  if (part instanceof Rows) return walkRows(at, part, values)
  let shape = at.to(part.strings, values.length)
  for (const argument of part.args) {
    if (isPart(argument)) shape = walk(shape, argument, values)
    else if (isList(argument)) shape = walkList(shape, argument, values)
    else values.push(argument)
  }
  return shape
}

const walkRows = (at: Shape, { columns, rows }: Rows, values: Value[]): Shape => {
  const shape = at.to(`${columns.join()}*${rows.length}`, values.length)
  for (const row of rows) for (const column of columns) values.push(row[column]!)
  return shape
}

const walkList = (at: Shape, list: readonly Fragment[], values: Value[]): Shape => {
  let shape = at.to(LIST, values.length).to(list.length, values.length)
  for (const part of list) shape = walk(shape, part, values)
  return shape
}

/** Writes the text of a statement, with `next` for the number of each parameter. */
const textOf = (part: Fragment | Text | Rows, next: () => number): string => {
  if (part instanceof Text) return part.text
  if (part instanceof Rows) {
    const rows = part.rows.map(() => `(${part.columns.map(() => `$${next()}`).join()})`)
    return `(${part.columns.map(quoteName).join()}) values ${rows.join()}`
  }
  return part.strings.reduce(
    (text, string, index) => `${text}${textOfArgument(part.args[index - 1]!, next)}${string}`,
  )
}

const textOfArgument = (argument: Argument, next: () => number): string => {
  if (isPart(argument)) return textOf(argument, next)
  return isList(argument) ? argument.map((part) => textOf(part, next)).join(' ') : `$${next()}`
}

/** A statement as one text. */
export interface Flat {
  text: string
  values: Value[]
  types: number[]
}

/** The text of a statement, and its parameters. */
export const flatten = (statement: Fragment): Flat => {
  const values: Value[] = []
  const shape = walk(root, statement, values)
  let count = 0
  shape.text ??= textOf(statement, () => ++count)
  return { text: shape.text, values, types: shape.types }
}

/** Type numbers of Postgres, as the client gives them to parameters of these kinds. */
const TYPE = { bool: 16, bytea: 17, int8: 20, timestamptz: 1184 }
const typeOf = (value: Value): number => {
  if (value instanceof Date) return TYPE.timestamptz
  if (value instanceof Uint8Array) return TYPE.bytea
  if (typeof value === 'boolean') return TYPE.bool
  return typeof value === 'bigint' ? TYPE.int8 : 0
}

const PREPARED = { prepare: true, simple: false } as object

/**
 * Sends a statement on a client, prepared under its text. A null gets the type that earlier values
 * had in its place, because a statement with different types would be prepared anew.
 */
export const send = (
  client: postgres.Sql,
  statement: Fragment,
): postgres.PendingQuery<AnyRow[]> => {
  const { text, values, types } = flatten(statement)
  const parameters: unknown[] = values
  for (let index = 0; index < values.length; index++) {
    const value = values[index]!
    if (value instanceof Json) parameters[index] = client.json(value.value as postgres.JSONValue)
    else if (value !== null) types[index] ||= typeOf(value)
    else if (types[index]) parameters[index] = client.typed(null as never, types[index]!)
  }
  return client.unsafe(text, parameters as never[], PREPARED).execute()
}

/** Handles the rejection of a promise that follows a failed one, because nobody awaits it. */
export const ignoreFailure = (running: PromiseLike<unknown>): void =>
  void running.then(undefined, () => {})

/**
 * Asks the database to stop a statement. The client's own `cancel` drops the promise of that
 * request. The promise rejects while the database takes no connections, and an unhandled rejection
 * ends the process.
 */
export const cancel = (asked: postgres.PendingQuery<AnyRow[]>): void => {
  const query = asked as unknown as { canceller: ((query: unknown) => PromiseLike<unknown>) | null }
  if (query.canceller) ignoreFailure(query.canceller(query))
  query.canceller = null
}

/** Waits for both, and returns the second. */
export const both = async <T>(first: PromiseLike<unknown>, second: PromiseLike<T>): Promise<T> => {
  ignoreFailure(second)
  await first
  return await second
}

/** A tag whose statements run on a client of postgres.js, for code outside of the pools. */
export const sqlOf = (client: postgres.Sql | postgres.TransactionSql): Sql =>
  sqlBy((statement) => send(client as postgres.Sql, statement))

/** Whether a statement begins by writing. */
const WRITES = /^\s*(insert|update|delete|merge|truncate)\b/i
export const isWriting = ({ strings }: Fragment): boolean => WRITES.test(strings[0] ?? '')
