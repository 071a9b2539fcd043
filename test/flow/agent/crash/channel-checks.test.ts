/**
 * A process dies on the way of a check of a channel: the provider is asked again, and the
 * connection has its route once.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { testStops } from '#test/support/actors/stops'
import { type TestApp, testApp } from '#test/support/app'
import { channelAdmin } from '#test/support/channels/channels'
import { checkedChannels } from '#test/support/channels/checked'
import { freshDb, type TestDatabase } from '#test/support/database/db'
import { eventually } from '#test/support/eventually'
import { crash } from '#test/support/growth/story'

const points = [
  { name: 'before the provider is asked', at: 'agent.channel.checking', asked: 1 },
  { name: 'when it was asked and has not answered', at: 'test.answered', asked: 2 },
  {
    name: 'when it has answered and nothing is written',
    at: 'letter.deciding:channel_check.settle',
    asked: 2,
  },
]

const world = new AsyncDisposableStack()
const stops = testStops()
const channels = checkedChannels()
const made: { id: string; tenantId: string; goOn(): void }[] = []
let next: TestApp

const start = async ({ options }: TestDatabase): Promise<TestApp> =>
  world.use(
    await testApp({
      database: options,
      overrides: { failpoints: stops.at, channels: channels.replace },
    }),
  )

beforeAll(async () => {
  channels.answer = async () => {
    await stops.at('test.answered')
    return { kind: 'proven' }
  }
  const db = world.use(await freshDb())
  const dying = await start(db)
  for (const { at } of points) {
    const { tenantId } = await dying.newWorkspace()
    const { connect } = await channelAdmin(dying, tenantId)
    const stopped = stops.stopNext(at)
    const id = await connect()
    made.push({ id, tenantId, goOn: await stopped })
  }
  await crash(dying)
  next = await start(db)
})
afterAll(() => world.disposeAsync())

test.each(points.map(({ name, asked }, index) => [name, asked, index] as const))(
  '%s',
  async (_, asked, index) => {
    const { id, goOn } = made[index]!
    const [row] = await eventually(
      () =>
        next.owner<{ status: string }[]>`select status from channel_connection where id = ${id}`,
      ([found]) => found?.status === 'active',
    )
    expect(row).toEqual({ status: 'active' })
    // If the process was only stopped it goes on now, and what it brings is too late.
    goOn()
    expect(await next.owner`select 1 from inbound_route where ref_id = ${id}`).toHaveLength(1)
    expect(channels.asked.filter((one) => one.id === id).length).toBeGreaterThanOrEqual(asked)
    await eventually(
      () => next.owner`select 1 from work where ref_id = ${id}`,
      (rows) => rows.length === 0,
    )
  },
)
