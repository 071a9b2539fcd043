/**
 * The worker in which drafters compute: its results, and what happens if a computation never ends
 * or the worker dies.
 */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import type { DraftBrief } from '#domain/growth/drafting/draft'
import { emptyProfile } from '#domain/growth/drafting/profile'
import { weightedLength } from '#domain/growth/length/weighted-length'
import { composeArticle } from '#port/model/composer/article'
import { createComposer } from '#port/model/composer/composer'
import { composeDrafts } from '#port/model/composer/drafts'
import { composeReply } from '#port/model/composer/reply'
import { GenerationError } from '#port/model/drafter'
import { openThread, type WorkerOptions } from '#port/model/worker/thread'
import { manualClock } from '#test/support/actors/manual-clock'
import { articleBrief, briefWith, neverAborts, replyBrief } from '#test/support/model/briefs'
import { fullBrief } from './largest-profile.ts'

const measured = { measure: weightedLength }
const brief = (changes: Partial<DraftBrief> = {}) => briefWith({ ...measured, ...changes })
const misbehaving = (options: WorkerOptions = {}) =>
  openThread({ program: join(import.meta.dir, 'misbehaving-worker.ts'), ...options })
const failure = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'it succeeded',
    (cause) => cause,
  )

/** Lets the event loop turn `count` times. */
const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn += 1) await new Promise(setImmediate)
}

test('the composer drafts in a worker what it drafts without one', async () => {
  using thread = openThread()
  const composer = createComposer(thread)
  expect((await composer.draft(brief(), neverAborts())).drafts).toEqual(composeDrafts(brief()))
  expect((await composer.article(articleBrief(measured), neverAborts())).article).toEqual(
    composeArticle(articleBrief(measured)),
  )
  expect((await composer.reply(replyBrief(measured), neverAborts())).reply).toEqual(
    composeReply(replyBrief(measured)),
  )
})

test('a hint to the person arrives as one', async () => {
  using thread = openThread()
  const cause = await failure(
    createComposer(thread).draft(brief({ profile: emptyProfile }), neverAborts()),
  )
  expect(cause).toBeInstanceOf(GenerationError)
  expect((cause as GenerationError).hint).toBe("add stories or proof to the profile's writing_dna")
})

test('the event loop turns while the largest batch is composed', async () => {
  using thread = openThread()
  const settled = { yet: false }
  const drafting = createComposer(thread)
    .draft(fullBrief(measured), neverAborts())
    .finally(() => {
      settled.yet = true
    })
  let turned = 0
  for (; !settled.yet; turned += 1) await new Promise(setImmediate)
  expect((await drafting).drafts).toHaveLength(20)
  // In this thread it would be two or three.
  expect(turned).toBeGreaterThan(20)
})

test('a computation that never ends leaves the event loop free, and an abort ends it at once', async () => {
  using thread = misbehaving()
  const controller = new AbortController()
  const hanging = failure(createComposer(thread).draft(brief({ seed: 'hang' }), controller.signal))
  const next = createComposer(thread).draft(brief(), neverAborts())
  await turns(1_000)
  const reason = new Error('the batch was cancelled')
  controller.abort(reason)
  expect(await hanging).toBe(reason)
  expect((await next).drafts).toHaveLength(5)
})

test('a computation past its time is given up with a hint, and the next one has a new worker', async () => {
  const clock = manualClock()
  using thread = misbehaving({ clock })
  const hanging = failure(createComposer(thread).draft(brief({ seed: 'hang' }), neverAborts()))
  await clock.advance(30_000)
  expect(((await hanging) as GenerationError).hint).toBe(
    "drafting took more than 30 seconds; shorten the profile's writing_dna",
  )
  expect(
    (await createComposer(thread).draft(brief({ count: 1 }), neverAborts())).drafts,
  ).toHaveLength(1)
  expect(clock.pending).toBe(0)
})

test.each([
  ['crash', 'RangeError: out of luck'],
  ['exit', 'it exited'],
])('a worker that dies of %s fails its computation alone', async (seed, why) => {
  using thread = misbehaving()
  const composer = createComposer(thread)
  const [cause, other] = await Promise.all([
    failure(composer.draft(brief({ seed }), neverAborts())),
    composer.draft(brief(), neverAborts()),
  ])
  expect(String(cause)).toContain(`the drafting worker died: `)
  expect(String(cause)).toContain(why)
  expect(other.drafts).toHaveLength(5)
})

test('an abort before its turn takes a request out of the queue', async () => {
  using thread = misbehaving()
  const [first, second] = [new AbortController(), new AbortController()]
  const hanging = failure(createComposer(thread).draft(brief({ seed: 'hang' }), first.signal))
  const waiting = failure(createComposer(thread).draft(brief({ seed: 'hang' }), second.signal))
  const third = createComposer(thread).draft(brief(), neverAborts())
  second.abort('no longer wanted')
  expect(await waiting).toBe('no longer wanted')
  first.abort('nor this')
  expect(await hanging).toBe('nor this')
  expect((await third).drafts).toHaveLength(5)
})

test('more requests than may wait are refused with a hint', async () => {
  using thread = misbehaving({ mostWaiting: 1 })
  const composer = createComposer(thread)
  const controller = new AbortController()
  const held = [0, 1].map(() => failure(composer.draft(brief({ seed: 'hang' }), controller.signal)))
  const cause = await failure(composer.draft(brief(), neverAborts()))
  expect((cause as GenerationError).hint).toContain('retry later')
  controller.abort('over')
  expect(await Promise.all(held)).toEqual(['over', 'over'])
})

test('closing ends what runs and what waits, and takes nothing more', async () => {
  const thread = misbehaving()
  const composer = createComposer(thread)
  const held = [0, 1].map(() => failure(composer.draft(brief({ seed: 'hang' }), neverAborts())))
  thread[Symbol.dispose]()
  for (const cause of await Promise.all(held))
    expect(String(cause)).toContain('the drafting worker was closed')
  expect(String(await failure(composer.draft(brief(), neverAborts())))).toContain('closed')
})

test('a measure that the worker does not know is refused', async () => {
  using thread = openThread()
  const cause = await failure(
    createComposer(thread).draft(brief({ measure: (text) => text.length }), neverAborts()),
  )
  expect(String(cause)).toContain('table of measures')
})

test('a process that has drafted can end while its worker lives', async () => {
  const program = `
    import { createComposer } from '#port/model/composer/composer'
    import { openThread } from '#port/model/worker/thread'
    import { weightedLength } from '#domain/growth/length/weighted-length'
    import { briefWith } from '#test/support/model/briefs'
    const { drafts } = await createComposer(openThread()).draft(briefWith({ measure: weightedLength }), new AbortController().signal)
    console.log(drafts.length)`
  const child = Bun.spawn([process.execPath, '-e', program], {
    cwd: join(import.meta.dir, '../../..'),
    stdout: 'pipe',
  })
  expect(await new Response(child.stdout).text()).toBe('5\n')
  expect(await child.exited).toBe(0)
})
