/** The columns of a tenant that triggers keep for the gate. */
import { beforeAll, expect, test } from 'bun:test'
import { newId } from '#kernel/ids'
import { actorStore } from '#test/support/actors/actors'
import { use } from '#test/support/use'

const store = use(actorStore)
const newTenant = () => store.newTenant()
let sql: typeof store.owner
beforeAll(() => {
  sql = store.owner
})

const factsOf = async (id: string) =>
  (await sql`select webhook, awaited from tenant where id = ${id}`)[0]!

const times = { created_at: new Date(), updated_at: new Date() }

test("a tenant's row names what its active webhook wants, whatever changes the webhook", async () => {
  const [id, other] = [await newTenant(), await newTenant()]
  const webhook = async () => [(await factsOf(id)).webhook, (await factsOf(other)).webhook]
  expect(await webhook()).toEqual([null, null])
  await sql`insert into webhook_endpoint
    ${sql({ tenant_id: id, id: newId(), url: 'https://example.com', events: ['item.posted'], secret: Buffer.from('x'), status: 'active', ...times })}`
  expect(await webhook()).toEqual([['item.posted'], null])
  await sql`update webhook_endpoint set events = '{}' where tenant_id = ${id}`
  expect(await webhook()).toEqual([[], null])
  await sql`update webhook_endpoint set status = 'disabled' where tenant_id = ${id}`
  expect(await webhook()).toEqual([null, null])
  await sql`update webhook_endpoint set status = 'active', events = '{batch.ready}'
    where tenant_id = ${id}`
  expect(await webhook()).toEqual([['batch.ready'], null])
  await sql`delete from webhook_endpoint where tenant_id = ${id}`
  expect(await webhook()).toEqual([null, null])
})

test("a tenant's row names what its active rules wait for, each kind once, whatever changes the rules", async () => {
  const [id, other] = [await newTenant(), await newTenant()]
  const awaited = async () => [(await factsOf(id)).awaited, (await factsOf(other)).awaited]
  const add = async (kind: string, status: string): Promise<string> => {
    const rule = newId()
    await sql`insert into rule ${sql({ tenant_id: id, id: rule, name: kind, status, trigger: sql.json({ kind }), action: sql.json({}), daily_cap: 1, ...times } as never)}`
    return rule
  }
  expect(await awaited()).toEqual([[], []])
  const [first, second, paused] = [
    await add('signal', 'active'),
    await add('signal', 'active'),
    await add('metric', 'paused'),
  ]
  expect(await awaited()).toEqual([['signal'], []])
  await sql`update rule set status = 'active' where id = ${paused}`
  expect(await awaited()).toEqual([['metric', 'signal'], []])
  await sql`update rule set status = 'paused' where id = ${first}`
  expect(await awaited()).toEqual([['metric', 'signal'], []])
  await sql`update rule set trigger = '{"kind": "item_posted"}' where id = ${second}`
  expect(await awaited()).toEqual([['item_posted', 'metric'], []])
  await sql`delete from rule where id = ${paused}`
  expect(await awaited()).toEqual([['item_posted'], []])
})
