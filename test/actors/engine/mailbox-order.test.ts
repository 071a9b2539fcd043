/** The order of letters, however they are posted and however long they take. */
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Priority } from '#actors/engine/mailbox'
import { AppError } from '#kernel/errors'
import { newGate } from '#test/support/actors/letters'
import { settled } from '#test/support/actors/manual-clock'
import { runs } from '#test/support/property'
import { mailboxOf } from './mailboxes.ts'

const TURN = 16
const priorities: Priority[] = ['control', 'interactive', 'background']

/**
 * A letter that waits `turns` times for the test, posts others on its way, and may throw at its
 * end.
 */
interface Spec {
  priority: Priority
  turns: number
  throws: boolean
  posts: Spec[]
}

type Action = { post: Spec } | { turn: true }

interface Event {
  at: 'posted' | 'began' | 'ended'
  id: number
  priority: Priority
}

const specOf = (posts: fc.Arbitrary<Spec[]>): fc.Arbitrary<Spec> =>
  fc.record({
    priority: fc.constantFrom<Priority>(
      'control',
      'interactive',
      'interactive',
      'interactive',
      'interactive',
      'background',
    ),
    turns: fc.nat(2),
    throws: fc.boolean(),
    posts,
  })
/** Letters that post letters that post letters. */
const leaf = specOf(fc.constant([]))
const spec = specOf(fc.array(specOf(fc.array(leaf, { maxLength: 2 })), { maxLength: 2 }))

const actions: fc.Arbitrary<Action[]> = fc.array(
  fc.oneof(
    { arbitrary: spec.map((post): Action => ({ post })), weight: 3 },
    { arbitrary: fc.constant<Action>({ turn: true }), weight: 2 },
  ),
  { maxLength: 90, size: 'max' },
)

/**
 * Plays the actions on a mailbox, then lets all letters end. What came of each letter stands under
 * its id.
 */
const play = async (steps: Action[], bound?: number) => {
  const { mailbox, post: put } = mailboxOf(bound === undefined ? {} : { bound })
  const events: Event[] = []
  const results: PromiseSettledResult<number>[] = []
  let ids = 0
  let next: () => void = () => {}
  const post = ({ priority, turns, throws, posts }: Spec): void => {
    const id = ids++
    const event = (at: Event['at']) => events.push({ at, id, priority })
    const run = async () => {
      event('began')
      for (let turn = 0; turn < turns; turn++) {
        const gate = newGate()
        next = gate.open
        await gate.opened
        for (const other of turn === 0 ? posts : []) post(other)
      }
      event('ended')
      if (throws) throw new Error(`letter ${id}`)
      return id
    }
    event('posted')
    void Promise.allSettled([put(priority, run)]).then(([result]) => {
      results[id] = result
    })
  }
  const drained = async () => {
    for (next(); !mailbox.idle; next()) await settled()
    await settled()
  }
  for (const step of steps) {
    if ('post' in step) post(step.post)
    else next()
    await settled()
  }
  await drained()
  return { events, results, posted: ids }
}

const isRefusal = (result: PromiseSettledResult<number> | undefined): boolean =>
  result?.status === 'rejected' && result.reason instanceof AppError

describe('letters, however they are posted and however long they take', () => {
  const property = (check: (played: Awaited<ReturnType<typeof play>>) => void, bound?: number) =>
    fc.assert(
      fc.asyncProperty(actions, async (steps) => check(await play(steps, bound))),
      runs(300),
    )

  test('run one at a time', () =>
    property(({ events }) => {
      const runsOf = events.filter(({ at }) => at !== 'posted')
      for (let i = 0; i < runsOf.length; i += 2) {
        expect([runsOf[i]?.at, runsOf[i + 1]?.at]).toEqual(['began', 'ended'])
        expect(runsOf[i]?.id).toBe(runsOf[i + 1]!.id)
      }
    }))

  test('run in the order of posting within a priority', () =>
    property(({ events }) => {
      for (const priority of priorities) {
        const order = (at: Event['at']) =>
          events
            .filter((event) => event.at === at && event.priority === priority)
            .map(({ id }) => id)
        expect(order('began')).toEqual(order('posted'))
      }
    }))

  test('run control first, then interactive, then background, which waits for at most sixteen interactive ones', () =>
    property(({ events }) => {
      const waiting: Record<Priority, Set<number>> = {
        control: new Set(),
        interactive: new Set(),
        background: new Set(),
      }
      let passedOver = 0
      for (const { at, id, priority } of events) {
        if (at === 'posted') waiting[priority].add(id)
        if (at !== 'began') continue
        waiting[priority].delete(id)
        if (priority !== 'control') expect(waiting.control.size).toBe(0)
        if (priority === 'background' && waiting.interactive.size > 0) expect(passedOver).toBe(TURN)
        if (priority === 'interactive' && waiting.background.size > 0)
          expect(++passedOver).toBeLessThanOrEqual(TURN)
        if (priority === 'background' || waiting.background.size === 0) passedOver = 0
      }
    }))

  test('each give their own result, and none is lost', () =>
    property(({ results, events, posted }) => {
      expect(results.filter(Boolean)).toHaveLength(posted)
      expect(events.filter(({ at }) => at === 'ended')).toHaveLength(posted)
      results.forEach((result, id) => {
        if (result.status === 'fulfilled') expect(result.value).toBe(id)
        else expect(result.reason.message).toBe(`letter ${id}`)
      })
    }))

  test('are refused only if they are interactive and the mailbox is full', () =>
    property(({ events, results, posted }) => {
      let waiting = 0
      for (const { at, id, priority } of events) {
        if (priority !== 'interactive') expect(isRefusal(results[id])).toBe(false)
        else if (at === 'began') waiting--
        else if (at === 'posted') {
          expect(isRefusal(results[id])).toBe(waiting === 3)
          if (!isRefusal(results[id])) waiting++
        }
      }
      const refused = results.filter(isRefusal).length
      expect(events.filter(({ at }) => at === 'ended')).toHaveLength(posted - refused)
    }, 3))
})
