/** A generation as one MCP call, against the real app and a drafter that waits for the test. */
import { expect, test } from 'bun:test'
import { batches } from '#contract/growth/batches'
import { type GenerationOptions, LEFT, runGeneration } from '#edge/mcp/generation'
import { AppError } from '#kernel/errors'
import { checkerOf } from '#ops/engine/validate'
import { type ManualClock, manualClock } from '#test/support/actors/manual-clock'
import { eventually } from '#test/support/app'
import { othersPost } from '#test/support/growth/records'
import { type ContextOptions, contextOf, openedIn } from '#test/support/mcp/context'
import { heldInEachTest } from '#test/support/model/held-drafter'
import { useApp } from '#test/support/use'

const held = heldInEachTest()
const app = useApp({
  overrides: {
    drafter: held.drafter,
  },
})

type Progress = [progress: number, total: number, message: string]

const openGeneration = async (options: ContextOptions = {}) => {
  const { tenantId, key } = await app.newWorkspace()
  const calls: string[] = []
  const before = (id: string) => {
    calls.push(id)
    options.before?.(id)
  }
  const context = await contextOf(app, { tenantId, ...options, before })
  const progress: Progress[] = []
  const operation = context.operations.get('growth.batches.create')!
  const run = (input: object, more: Partial<GenerationOptions> = {}) =>
    runGeneration(
      context,
      { operation, input },
      {
        signal: new AbortController().signal,
        onProgress: (...args) => progress.push(args),
        ...more,
      },
    )
  return { tenantId, key, progress, calls, run }
}

/** Steps the clock if a timer is pending; otherwise waits a moment for the database. */
const step = async (clock: ManualClock, ms: number): Promise<void> =>
  clock.pending > 0 ? clock.advance(ms) : Bun.sleep(1)

/** Steps the clock until the promise settles. */
const moving = async <T>(clock: ManualClock, running: Promise<T>, ms: number): Promise<T> => {
  let ended = false
  const end = running.finally(() => {
    ended = true
  })
  end.catch(() => {})
  while (!ended) await step(clock, ms)
  return end
}

const rising = (reports: Progress[]): boolean =>
  reports.every(([progress], index) => index === 0 || progress > reports[index - 1]![0])

test('answers with the settled record and its drafts, in the shape of what reads it', async () => {
  const { run, progress } = await openGeneration()
  held.release()
  const { answer, schema, unsettled } = await run({ count: 2, focus: 'docks' })
  const body = JSON.parse(answer.body)
  expect(answer.status).toBe(201)
  expect(body.batch).toMatchObject({
    status: 'ready',
    focus: 'docks',
    requested: 2,
    delivered: 2,
    model: 'held',
  })
  expect(body.batch.items).toMatchObject([{ status: 'drafted' }, { status: 'drafted' }])
  expect([schema, unsettled]).toEqual([batches.get.output, undefined])
  expect(checkerOf(batches.get.output).Check(body)).toBe(true)
  expect(progress.at(-1)).toEqual([100, 100, 'ready: 2 of 2 drafted'])
})

test('reports progress, always rising, and polls ever less often', async () => {
  const { run, progress, calls, tenantId } = await openGeneration()
  const clock = manualClock()
  const running = run({ count: 1, focus: 'polled' }, { clock, deadlineMs: 600_000 })
  await held.begun(1, 'polled')
  // The clock may be ahead of the read that sees the drafting begin.
  while (progress.length < 10 || progress.at(-1)![2] !== 'drafting') await step(clock, 500)
  held.release()
  await eventually(
    async () =>
      (await app.owner`select status from batch where tenant_id = ${tenantId}`)[0]!.status,
    (status) => status === 'ready',
  )
  const { answer } = await moving(clock, running, 500)
  expect(JSON.parse(answer.body).batch.status).toBe('ready')
  expect(rising(progress)).toBe(true)
  expect(progress.map(([, total]) => total)).toEqual(progress.map(() => 100))
  expect(progress[0]).toEqual([0, 100, 'waiting for its turn'])
  expect(progress.slice(1, -1).map(([, , message]) => message)).toContain('drafting')
  expect(progress.at(-1)).toEqual([100, 100, 'ready: 1 of 1 drafted'])
  // A poll every 3 seconds of the clock, except for the first few.
  expect(calls.length).toBeLessThan(6 + clock.monotonic() / 3_000 + 2)
})

test('a generation that fails is an answer, with its error', async () => {
  const { run, progress } = await openGeneration()
  held.failWith(new Error('broken'))
  const { answer } = await run({ count: 1 })
  expect(JSON.parse(answer.body).batch).toMatchObject({ status: 'failed', error: 'enqueue_failed' })
  expect(progress.at(-1)).toEqual([100, 100, 'failed: enqueue_failed'])
})

test('a record without an operation to read it is followed in its list', async () => {
  const { context } = await openedIn(app)
  const generate = async (id: string, input: object) => {
    const progress: Progress[] = []
    const operation = context.operations.get(id)!
    const options = {
      signal: new AbortController().signal,
      onProgress: (...args: Progress) => progress.push(args),
    }
    const { answer } = await runGeneration(context, { operation, input }, options)
    return { body: JSON.parse(answer.body), progress }
  }
  held.release()
  const report = await generate('growth.reports.create', {})
  expect([report.body.report.status, report.progress.at(-1)]).toEqual([
    'ready',
    [100, 100, 'ready'],
  ])
  const post = await othersPost({ app }, 'Who answers on Sundays?')
  const reply = await generate('growth.engagements.create', { post, action: 'reply' })
  expect(reply.body.engagement).toMatchObject({ status: 'drafted', model: 'held' })
  expect(reply.progress.at(-1)).toEqual([100, 100, 'drafted'])
})

test('a generation of an engagement is cancelled when its caller disconnects', async () => {
  const { story, context } = await openedIn(app)
  const post = await othersPost({ app }, 'Who answers on Mondays?')
  const controller = new AbortController()
  const operation = context.operations.get('growth.engagements.create')!
  const input = { post, action: 'reply', instruction: 'left' }
  const running = runGeneration(
    context,
    { operation, input },
    { signal: controller.signal, onProgress: () => {} },
  )
  await held.begun(1, 'left')
  controller.abort()
  const { answer } = await running
  expect(JSON.parse(answer.body).engagement).toMatchObject({ status: 'failed', error: 'cancelled' })
  expect((await story.send('GET', 'engagements?status=failed')).body.engagements).toHaveLength(1)
})

test('a generation that takes too long answers with the record as it is, and continues', async () => {
  const { run, progress, key } = await openGeneration()
  const clock = manualClock()
  // Tests that wait for no draft leave calls behind, which begin during others: only this focus
  // tells that this batch is being drafted.
  const running = run({ count: 1, focus: 'slow' }, { clock })
  await held.begun(1, 'slow')
  const { answer, unsettled } = await moving(clock, running, 1_000)
  const { batch } = JSON.parse(answer.body)
  expect([batch.status, unsettled!.operation.id, unsettled!.id]).toEqual([
    'generating',
    'growth.batches.get',
    batch.id,
  ])
  expect(clock.monotonic()).toBeGreaterThanOrEqual(40_000)
  expect(clock.monotonic()).toBeLessThanOrEqual(45_000)
  expect(rising(progress) && progress.at(-1)![0] < 100).toBe(true)
  expect((await app.send('GET', `batches/${batch.id}`, { key })).body.batch.status).toBe(
    'generating',
  )
  expect(held.aborted).toEqual([])
})

test('a generation is cancelled when its caller disconnects, and answers with the cancelled record', async () => {
  const { run, progress, key } = await openGeneration()
  const controller = new AbortController()
  const running = run({ count: 4, focus: 'gone' }, { signal: controller.signal })
  await held.begun(1, 'gone')
  controller.abort()
  const { answer } = await running
  const { batch } = JSON.parse(answer.body)
  expect(batch).toMatchObject({ status: 'failed', error: 'cancelled', delivered: 0 })
  expect(held.aborted).toEqual(['gone'])
  expect(rising(progress)).toBe(true)
  const [quota] = await app.owner`select used::int from counter where key = 'posts' and tenant_id =
    (select tenant_id from batch where id = ${batch.id})`
  expect(quota!.used).toBe(0)
  expect((await app.send('GET', `batches/${batch.id}`, { key })).body.batch).toMatchObject({
    status: 'failed',
    error: 'cancelled',
  })
})

test('a caller that only leaves gets the record as it is, which goes on', async () => {
  const { run, key } = await openGeneration()
  const controller = new AbortController()
  const running = run({ count: 1, focus: 'left alone' }, { signal: controller.signal })
  await held.begun(1, 'left alone')
  controller.abort(LEFT)
  const { answer, unsettled } = await running
  const { batch } = JSON.parse(answer.body)
  expect([unsettled!.id, held.aborted]).toEqual([batch.id, []])
  expect(batch.status).toMatch(/queued|generating/)
  held.release()
  const settled = () => app.send('GET', `batches/${batch.id}`, { key })
  expect(
    (await eventually(settled, ({ body }) => body.batch.status !== 'generating')).body.batch.status,
  ).toBe('ready')
})

test('a caller that disconnects during creation cancels too; before it, nothing is created', async () => {
  const controller = new AbortController()
  const { run, calls } = await openGeneration({
    before: (id) => id === 'growth.batches.create' && controller.abort(),
  })
  const { answer } = await run({ count: 1 }, { signal: controller.signal })
  expect(JSON.parse(answer.body).batch).toMatchObject({ error: 'cancelled' })
  expect(calls).toContain('growth.batches.cancel')
  calls.length = 0
  await expect(run({ count: 1 }, { signal: controller.signal })).rejects.toMatchObject({
    name: 'AbortError',
  })
  expect(calls).toEqual([])
})

test('a caller that disconnects after the end changes nothing', async () => {
  const controller = new AbortController()
  const { run, calls } = await openGeneration()
  held.release()
  const onProgress = (progress: number) => progress === 100 && controller.abort()
  const { answer } = await run({ count: 1 }, { signal: controller.signal, onProgress })
  expect(controller.signal.aborted).toBe(true)
  expect(JSON.parse(answer.body).batch.status).toBe('ready')
  expect(calls).not.toContain('growth.batches.cancel')
})

test('a second call under the same key follows the same record', async () => {
  const { run } = await openGeneration()
  held.release()
  const [first, second] = [
    await run({ count: 1 }, { idempotencyKey: 'k' }),
    await run({ count: 1 }, { idempotencyKey: 'k' }),
  ]
  // The rates in an answer are current, in seconds.
  expect(second.answer).toEqual({
    ...first.answer,
    replayed: true,
    allowances: second.answer.allowances,
  })
})

test('what the operation refuses is refused, and nothing is followed', async () => {
  const { run, calls } = await openGeneration()
  await expect(run({ count: 21 })).rejects.toMatchObject({ code: 'invalid_input' })
  expect(calls).toEqual(['growth.batches.create'])
})

test('a caller without permission to read gets the record as it was created', async () => {
  const { run } = await openGeneration({ scopes: ['api:write', 'mcp:use'] })
  const { answer, schema } = await run({ count: 1 })
  expect([JSON.parse(answer.body), schema]).toEqual([
    { batch: expect.objectContaining({ status: 'queued' }) },
    batches.create.output,
  ])
})

test('an outage midway is waited out; a revoked key is an error', async () => {
  let [left, code]: [number, 'unavailable' | 'unauthenticated'] = [2, 'unavailable']
  const { run, calls } = await openGeneration({
    before(id) {
      if (id === 'growth.batches.get' && left-- > 0) throw new AppError(code)
    },
  })
  held.release()
  const { answer } = await run({ count: 1 })
  expect(JSON.parse(answer.body).batch.status).toBe('ready')
  expect(calls.length).toBeGreaterThan(3)
  ;[left, code] = [1, 'unauthenticated']
  await expect(run({ count: 1 })).rejects.toMatchObject({ code: 'unauthenticated' })
})
