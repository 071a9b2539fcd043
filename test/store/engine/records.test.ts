/** Declared records beside the migrated database. */
import { expect, test } from 'bun:test'
import { records } from '#contract/records/all'
import { type Field, isNullable } from '#contract/records/record'
import { actorStore } from '#test/support/actors/actors'
import { use } from '#test/support/use'

const store = use(actorStore)

test.each(records.map((one) => [one.table, one] as const))(
  '%s has the columns that its record declares',
  async (table, { fields }) => {
    const columns =
      await store.owner`select attname as name, format_type(atttypid, atttypmod) as type,
        not attnotnull as nullable, attgenerated <> '' as generated from pg_attribute
    where attrelid = ${`public.${table}`}::regclass and attnum > 0 and not attisdropped
      and attname <> 'tenant_id' order by attname`
    const declared = Object.entries<Field>(fields)
      .filter(([, { type }]) => type)
      .map(([name, field]) => ({
        name,
        type: field.type,
        nullable: isNullable(field),
        generated: field.from === 'generated',
      }))
    expect(declared.toSorted((a, b) => (a.name < b.name ? -1 : 1))).toEqual(
      columns.map((column) => ({ ...column })) as never,
    )
  },
)

test.each(records.map((one) => [one.table, one] as const))(
  'each field of %s is shown, or says why not',
  (_, { fields, hidden: whole }) => {
    const silent = Object.entries<Field>(fields).filter(
      ([, { shown, hidden = whole }]) => (shown === undefined) === (hidden === undefined),
    )
    expect(silent.map(([name]) => name)).toEqual([])
  },
)
