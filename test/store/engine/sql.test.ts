/** Statements as data: the text and the parameters that a tree of templates gives. */
import { describe, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { openDb } from '#store/engine/db'
import { type Fragment, flatten, fragments as sql } from '#store/engine/sql'
import { freshDb } from '#test/support/database/db'
import { use } from '#test/support/use'

const flat = (statement: Fragment) => {
  const { text, values } = flatten(statement)
  return [text.replace(/\s+/g, ' ').trim(), ...values]
}

describe('a statement', () => {
  test('numbers its parameters in the order of the text, through all parts', () => {
    const part = (n: number) => sql`(${n}, ${sql`x = ${n + 1}`})`
    expect(flat(sql`a ${1} b ${part(2)} c ${part(4)} d ${6}`)).toEqual([
      'a $1 b ($2, x = $3) c ($4, x = $5) d $6',
      ...[1, 2, 3, 4, 5, 6],
    ] as never)
  })

  test('takes lists of parts, names, rows and arrays as values', () => {
    const list = [sql`a = ${1}`, sql`, b = ${2}`]
    expect(
      flat(sql`set ${list} where id = any(${['x', 'y']}) and ${sql('na"me')} = any(${[]})`),
    ).toEqual([
      'set a = $1 , b = $2 where id = any($3) and "na""me" = any($4)',
      ...[1, 2, ['x', 'y'], []],
    ] as never)
    expect(
      flat(
        sql`insert into ${sql('t')} ${sql([
          { a: 1, b: null },
          { b: 3, a: 2 },
        ])} returning ${sql(['a', 'b'])}`,
      ),
    ).toEqual([
      'insert into "t" ("a","b") values ($1,$2),($3,$4) returning "a","b"',
      ...[1, null, 2, 3],
    ] as never)
  })

  test('has one text for each shape, whatever the values', () => {
    const shapes = [
      (a: unknown) => sql`s ${a as number} ${sql``} t`,
      (a: unknown) => sql`s ${sql``} ${a as number} t`,
      (a: unknown) => sql`s ${sql`u ${a as number}`} ${a as number} t`,
      (a: unknown) => sql`s ${sql`u`} ${a as number} t`,
    ]
    const made = [1, 'x', null].flatMap((value) =>
      shapes.map((shape) => flatten(shape(value)).text),
    )
    expect(new Set(made).size).toBe(shapes.length)
    expect(made.slice(0, 4)).toEqual(made.slice(4, 8))
  })

  test('with parts in other places has another text, even from the same templates', () => {
    const pair = (a: unknown, b: unknown) => sql`p ${a as number} q ${b as number} r`
    const part = sql`v`
    const all = [
      pair(1, 2),
      pair(part, 2),
      pair(1, part),
      pair(part, part),
      pair(pair(1, 2), part),
      pair(pair(1, part), 2),
      pair(part, pair(1, 2)),
    ]
    const texts = all.map((statement) => flatten(statement).text)
    expect(new Set(texts).size).toBe(all.length)
    expect(all.map((statement) => flatten(statement).text)).toEqual(texts)
  })
})

describe('the database', () => {
  const database = use(freshDb)
  const db = use(() => openDb({ ...database.options, max: 1 }))

  test('prepares a statement once, whichever of its values are null', async () => {
    const at = new Date(0)
    const echo = async (values: [Date | null, boolean | null, number | null]) => {
      const [when, flag, number] = values
      const [row] = await db.read(
        { tenantId: newId() },
        (sql) => sql<{ at: Date | null; flag: boolean | null; n: number | null }>`
        select ${when}::timestamptz as at, ${flag}::boolean as flag, ${number}::int as n`,
      )
      return [row!.at, row!.flag, row!.n]
    }
    const all: [Date | null, boolean | null, number | null][] = [
      [at, true, 1],
      [null, true, 1],
      [at, null, null],
      [null, null, 2],
    ]
    for (const values of all) expect(await echo(values)).toEqual(values)
    const [prepared] = await db.read(
      { tenantId: newId() },
      (sql) => sql<{ count: number }>`
      select count(*)::int as count from pg_prepared_statements
        where statement like '%::timestamptz as at%'`,
    )
    // The statement that counts contains the words too, and is prepared as well.
    expect(prepared!.count).toBe(2)
  })

  test('refuses a value that is undefined, and goes on', async () => {
    const ask = (value: unknown) =>
      db.read(
        { tenantId: newId() },
        (sql) => sql<{ v: string }>`select ${value as string}::text as v`,
      )
    await expect(ask(undefined)).rejects.toThrow('Undefined values are not allowed')
    expect(await ask('x')).toEqual([{ v: 'x' }])
  })
})
