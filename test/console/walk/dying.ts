/** Decisions during which the server dies or refuses: each is whole or not there, and once. */
import type { Route } from 'playwright-core'
import { eventually } from '#test/support/eventually'
import { itemOf, openRow, writeDraft } from './posting.ts'
import { requireThat, succeeded, type World } from './world.ts'

const UNKNOWN = 'The server did not answer. What you asked for may or may not have happened.'
const DIES = { TENDRIL_FAILPOINTS: 'letter.deciding:growth.items.approve=kill' }

/** What a browser reports of a server that is gone, or that refuses. */
const REPORTED = /Failed to load resource|net::ERR_/

/** A browser reports each request that fails; nothing else may be complained of meanwhile. */
const whileFailing = async ({ complaints }: World, run: () => Promise<void>): Promise<void> => {
  const before = complaints.length
  await run()
  const meanwhile = complaints.splice(before)
  complaints.push(...meanwhile.filter((one) => !REPORTED.test(one)))
}

export const restart = (world: World, env = world.env): Promise<void> =>
  whileFailing(world, async () => {
    const code = await world.binary.stop()
    requireThat(code === 0, `SIGTERM ended it with 0, not ${code}`)
    await world.binary.start(env)
  })

/** How often the audit has its approval. */
const approvalsOf = async (world: World, id: string): Promise<number> => {
  const { decisions } = await itemOf(world, id)
  return decisions.filter(
    ({ operation }: { operation: string }) => operation === 'growth.items.approve',
  ).length
}

/** Opens the only draft, and presses A. */
const approve = async (world: World, text: string): Promise<void> => {
  const { desk } = world
  await desk.goTo('inbox')
  await openRow(world, text)
  await desk.read(`document.querySelector('textarea.post-text')?.value`, (is) => is === text)
  await desk.press('a')
}

const approvedOnce = async (world: World, id: string, text: string): Promise<void> => {
  await eventually(
    () => itemOf(world, id),
    ({ status }) => status === 'approved',
  )
  await world.desk.seesNoMore(text)
  requireThat((await approvalsOf(world, id)) === 1, 'it was approved once')
  world.pressed.set(id, { how: 'no time', text })
}

/** kill -9 before the decision is stored: it is not there, and the same key makes it, once. */
const dieBefore = async (world: World): Promise<void> => {
  const { binary, desk, log } = world
  await restart(world, { ...world.env, ...DIES })
  const text = 'The server dies before this is stored.'
  const id = await writeDraft(world, text)
  await whileFailing(world, async () => {
    await approve(world, text)
    await binary.died()
    await desk.sees(UNKNOWN)
    await desk.sees(text)
    await binary.start(world.env)
    requireThat((await itemOf(world, id)).status === 'drafted', 'nothing of the decision is there')
    await approve(world, text)
    await approvedOnce(world, id, text)
  })
  log('kill -9 before a decision was stored: said so, not there; the same key decided it, once')
}

/** kill -9 after it is stored: it is whole, and what comes back is that it is decided. */
const dieAfter = async (world: World): Promise<void> => {
  const { binary, desk, log } = world
  const text = 'The server dies before it says that this is stored.'
  const id = await writeDraft(world, text)
  await whileFailing(world, async () => {
    const stored = Promise.withResolvers<void>()
    await desk.page.route(
      `**/items/${id}/approve`,
      async (route) => {
        await route.fetch()
        await binary.kill()
        stored.resolve()
        await route.abort()
      },
      { times: 1 },
    )
    await approve(world, text)
    await stored.promise
    await desk.sees(UNKNOWN)
    await binary.start(world.env)
    await approvedOnce(world, id, text)
  })
  log('kill -9 after a decision was stored: said so; it was whole, and the row left by itself')
}

const refusal = (status: number, code: string, seconds: number) => ({
  status,
  headers: { 'retry-after': String(seconds) },
  contentType: 'application/json',
  body: JSON.stringify({ error: { code, message: 'not now', request_id: 'walk' } }),
})

const answered = async (world: World, id: string, ...answers: ReturnType<typeof refusal>[]) => {
  const keys: string[] = []
  await world.desk.page.route(`**/items/${id}/approve`, async (route: Route) => {
    keys.push(route.request().headers()['idempotency-key'] ?? '')
    const next = answers.shift()
    await (next ? route.fulfill(next) : route.continue())
  })
  return keys
}

/** As while another server takes the workspace over: the same request is sent again by itself. */
const unavailable = async (world: World): Promise<void> => {
  const text = 'No server owns the workspace while this is decided.'
  const id = await writeDraft(world, text)
  const keys = await answered(
    world,
    id,
    refusal(503, 'unavailable', 1),
    refusal(503, 'unavailable', 1),
  )
  await whileFailing(world, async () => {
    await approve(world, text)
    await approvedOnce(world, id, text)
  })
  requireThat(keys.length === 3 && new Set(keys).size === 1, 'three tries had one key')
  world.log('503 twice during a decision: sent again under the same key, decided once')
}

const tooMany = async (world: World): Promise<void> => {
  const { desk, log } = world
  const text = 'Too much is asked of the server while this is decided.'
  const id = await writeDraft(world, text)
  await answered(world, id, refusal(429, 'rate_limited:commands', 1))
  await whileFailing(world, async () => {
    await approve(world, text)
    await desk.sees('Not now.')
    await desk.sees(text)
    requireThat((await itemOf(world, id)).status === 'drafted', 'nothing was decided')
    await approve(world, text)
    await approvedOnce(world, id, text)
  })
  log('429 during a decision: said so, the row came back, and the same key decided it, once')
}

export const decideWhileFailing = async (world: World): Promise<void> => {
  await dieBefore(world)
  await dieAfter(world)
  await unavailable(world)
  await tooMany(world)
  await succeeded(world.send('GET', 'overview'))
}
