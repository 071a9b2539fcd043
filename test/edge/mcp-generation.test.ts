/** A generation as one call of the MCP surface, over the real app and a drafter that waits for the test. */
import { expect, test } from 'bun:test'
import { batches } from '#contract/growth/batches'
import { CANCEL, type GenerationOptions, runGeneration } from '#edge/mcp/generation'
import { AppError } from '#kernel/errors'
import { checkerOf } from '#ops/validate'
import { eventually } from '#test/support/app'
import { heldInEachTest } from '#test/support/held-drafter'
import { type ManualClock, manualClock } from '#test/support/manual-clock'
import { type ContextOptions, contextOf, openedIn } from '#test/support/mcp-context'
import { othersPost } from '#test/support/prepare'
import { useApp } from '#test/support/use'

const held = heldInEachTest()
const app = useApp({
  overrides: {
    drafter: held.drafter,
  },
})

type Told = [progress: number, total: number, message: string]

const opened = async (options: ContextOptions = {}) => {
  const { tenantId, key } = await app.newWorkspace()
  const looks: string[] = []
  const before = (id: string) => {
    looks.push(id)
    options.before?.(id)
  }
  const context = await contextOf(app, { tenantId, ...options, before })
  const told: Told[] = []
  const operation = context.operations.get('growth.batches.create')!
  const run = (input: object, more: Partial<GenerationOptions> = {}) =>
    runGeneration(
      context,
      { operation, input },
      { signal: new AbortController().signal, onProgress: (...args) => told.push(args), ...more },
    )
  return { tenantId, key, told, looks, run }
}

/** Moves the clock if something waits by it; if not, it is the database that is waited for. */
const step = async (clock: ManualClock, ms: number): Promise<void> => (clock.pending > 0 ? clock.advance(ms) : Bun.sleep(1))

/** Moves the clock until the promise is over. */
const moving = async <T>(clock: ManualClock, running: Promise<T>, ms: number): Promise<T> => {
  let ended = false
  const end = running.finally(() => {
    ended = true
  })
  end.catch(() => {})
  while (!ended) await step(clock, ms)
  return end
}

const rising = (told: Told[]): boolean => told.every(([progress], index) => index === 0 || progress > told[index - 1]![0])

test('answers with the settled record in the shape of its creation, and gives the drafts beside it', async () => {
  const { run, told } = await opened()
  held.release()
  const { answer, whole } = await run({ count: 2, focus: 'docks' })
  const body = JSON.parse(answer.body)
  expect(answer.status).toBe(201)
  expect(body.batch).toMatchObject({ status: 'ready', focus: 'docks', requested: 2, delivered: 2, model: 'held' })
  expect(body.batch).not.toContainKey('items')
  expect(checkerOf(batches.create.output).Check(body)).toBe(true)
  expect(whole).toMatchObject({ batch: { id: body.batch.id, items: [{ status: 'drafted' }, { status: 'drafted' }] } })
  expect(told.at(-1)).toEqual([100, 100, 'ready: 2 of 2 drafted'])
})

test('tells how far it is while it lasts, always more than before, and looks ever less often', async () => {
  const { run, told, looks, tenantId } = await opened()
  const clock = manualClock()
  const running = run({ count: 1 }, { clock })
  await held.begun(1)
  while (told.length < 10) await step(clock, 500)
  held.release()
  await eventually(
    async () => (await app.owner`select status from batch where tenant_id = ${tenantId}`)[0]!.status,
    (status) => status === 'ready',
  )
  const { answer } = await moving(clock, running, 500)
  expect(JSON.parse(answer.body).batch.status).toBe('ready')
  expect(rising(told)).toBe(true)
  expect(told.map(([, total]) => total)).toEqual(told.map(() => 100))
  expect(told[0]).toEqual([0, 100, 'waiting for its turn'])
  expect(told.slice(1, -1).map(([, , message]) => message)).toContain('drafting')
  expect(told.at(-1)).toEqual([100, 100, 'ready: 1 of 1 drafted'])
  // A look every 3 seconds of the clock, but for the first few.
  expect(looks.length).toBeLessThan(6 + clock.monotonic() / 3_000 + 2)
})

test('that fails is an answer, with its error', async () => {
  const { run, told } = await opened()
  held.failWith(new Error('broken'))
  const { answer } = await run({ count: 1 })
  expect(JSON.parse(answer.body).batch).toMatchObject({ status: 'failed', error: 'enqueue_failed' })
  expect(told.at(-1)).toEqual([100, 100, 'failed: enqueue_failed'])
})

test('is followed in the list where none reads the one record', async () => {
  const { context } = await openedIn(app)
  const made = async (id: string, input: object) => {
    const told: Told[] = []
    const operation = context.operations.get(id)!
    const options = { signal: new AbortController().signal, onProgress: (...args: Told) => told.push(args) }
    const { answer } = await runGeneration(context, { operation, input }, options)
    return { body: JSON.parse(answer.body), told }
  }
  held.release()
  const report = await made('growth.reports.create', {})
  expect([report.body.report.status, report.told.at(-1)]).toEqual(['ready', [100, 100, 'ready']])
  const post = await othersPost({ app }, 'Who answers on Sundays?')
  const reply = await made('growth.engagements.create', { post, action: 'reply' })
  expect(reply.body.engagement).toMatchObject({ status: 'drafted', model: 'held' })
  expect(reply.told.at(-1)).toEqual([100, 100, 'drafted'])
})

test('of an engagement is cancelled when its caller goes away', async () => {
  const { story, context } = await openedIn(app)
  const post = await othersPost({ app }, 'Who answers on Mondays?')
  const controller = new AbortController()
  const operation = context.operations.get('growth.engagements.create')!
  const input = { post, action: 'reply', instruction: 'left' }
  const running = runGeneration(context, { operation, input }, { signal: controller.signal, onProgress: () => {} })
  await held.begun(1)
  controller.abort()
  const { answer } = await running
  expect(JSON.parse(answer.body).engagement).toMatchObject({ status: 'failed', error: 'cancelled' })
  expect((await story.send('GET', 'engagements?status=failed')).body.engagements).toHaveLength(1)
})

test('that lasts too long answers with the record as it stands, and goes on', async () => {
  const { run, told, key } = await opened()
  const clock = manualClock()
  const running = run({ count: 1 }, { clock })
  await held.begun(1)
  const { answer } = await moving(clock, running, 10_000)
  const { batch } = JSON.parse(answer.body)
  expect(batch.status).toBe('generating')
  expect(clock.monotonic()).toBeGreaterThanOrEqual(175_000)
  expect(rising(told) && told.at(-1)![0] < 100).toBe(true)
  expect((await app.send('GET', `batches/${batch.id}`, { key })).body.batch.status).toBe('generating')
  expect(held.aborted).toEqual([])
})

test('whose caller goes away is cancelled, and answers with the record as that left it', async () => {
  const { run, told, key } = await opened()
  const controller = new AbortController()
  const running = run({ count: 4, focus: 'gone' }, { signal: controller.signal })
  await held.begun(1)
  controller.abort()
  const { answer } = await running
  const { batch } = JSON.parse(answer.body)
  expect(batch).toMatchObject({ status: 'failed', error: 'cancelled', delivered: 0 })
  expect(held.aborted).toEqual(['gone'])
  expect(rising(told)).toBe(true)
  const [quota] = await app.owner`select used::int from counter where key = 'posts' and tenant_id =
    (select tenant_id from batch where id = ${batch.id})`
  expect(quota!.used).toBe(0)
  expect((await app.send('GET', `batches/${batch.id}`, { key })).body.batch).toMatchObject({ status: 'failed', error: 'cancelled' })
})

test('whose caller goes away while it is created is cancelled too; before that, nothing is created', async () => {
  const controller = new AbortController()
  const { run, looks } = await opened({ before: (id) => id === 'growth.batches.create' && controller.abort() })
  const { answer } = await run({ count: 1 }, { signal: controller.signal })
  expect(JSON.parse(answer.body).batch).toMatchObject({ error: 'cancelled' })
  expect(looks).toContain(CANCEL)
  looks.length = 0
  await expect(run({ count: 1 }, { signal: controller.signal })).rejects.toMatchObject({ name: 'AbortError' })
  expect(looks).toEqual([])
})

test('whose caller goes away once it is over is left as it is', async () => {
  const controller = new AbortController()
  const { run, looks } = await opened()
  held.release()
  const onProgress = (progress: number) => progress === 100 && controller.abort()
  const { answer } = await run({ count: 1 }, { signal: controller.signal, onProgress })
  expect(controller.signal.aborted).toBe(true)
  expect(JSON.parse(answer.body).batch.status).toBe('ready')
  expect(looks).not.toContain(CANCEL)
})

test('a second call under the same key follows the same record', async () => {
  const { run } = await opened()
  held.release()
  const [first, second] = [await run({ count: 1 }, { idempotencyKey: 'k' }), await run({ count: 1 }, { idempotencyKey: 'k' })]
  // How far limits go is told as of now, in seconds.
  expect(second.answer).toEqual({ ...first.answer, replayed: true, allowances: second.answer.allowances })
  expect(second.whole).toEqual(first.whole)
})

test('refuses what the operation refuses, before anything is followed', async () => {
  const { run, looks } = await opened()
  await expect(run({ count: 21 })).rejects.toMatchObject({ code: 'invalid_input' })
  expect(looks).toEqual(['growth.batches.create'])
})

test('a caller that may not read gets the record as it was created', async () => {
  const { run } = await opened({ scopes: ['api:write', 'mcp:use'] })
  const { answer, whole } = await run({ count: 1 })
  expect(JSON.parse(answer.body)).toEqual(whole as never)
  expect(whole).toMatchObject({ batch: { status: 'queued' } })
})

test('an outage while it lasts is waited out; a key that is revoked is an error', async () => {
  let [left, code]: [number, 'unavailable' | 'unauthenticated'] = [2, 'unavailable']
  const { run, looks } = await opened({
    before(id) {
      if (id === 'growth.batches.get' && left-- > 0) throw new AppError(code)
    },
  })
  held.release()
  const { answer } = await run({ count: 1 })
  expect(JSON.parse(answer.body).batch.status).toBe('ready')
  expect(looks.length).toBeGreaterThan(3)
  ;[left, code] = [1, 'unauthenticated']
  await expect(run({ count: 1 })).rejects.toMatchObject({ code: 'unauthenticated' })
})
