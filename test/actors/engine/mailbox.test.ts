import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { Mailbox, type MailboxOptions, type Priority } from '#actors/engine/mailbox'
import { AppError } from '#kernel/errors'
import { newGate } from '#test/support/actors/letters'
import { settled } from '#test/support/actors/manual-clock'
import { runs } from '#test/support/property'

const TURN = 16
const priorities: Priority[] = ['control', 'interactive', 'background']

interface Job {
  priority: Priority
  alone: boolean
  run(): Promise<void>
}

/** A mailbox whose letters are functions, each in a group of its own. */
const mailboxOf = (options: MailboxOptions = {}) => {
  const mailbox = new Mailbox<Job>((job) => job.run(), options)
  const post = <T>(priority: Priority, work: () => Promise<T>) =>
    new Promise<T>((resolve, reject) => {
      mailbox.post({ priority, alone: true, run: async () => (async () => work())().then(resolve, reject) })
    })
  return { mailbox, post }
}

/** A letter that waits `turns` times for the test, posts others on its way, and may throw at its end. */
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
    priority: fc.constantFrom<Priority>('control', 'interactive', 'interactive', 'interactive', 'interactive', 'background'),
    turns: fc.nat(2),
    throws: fc.boolean(),
    posts,
  })
/** Letters that post letters that post letters. */
const leaf = specOf(fc.constant([]))
const spec = specOf(fc.array(specOf(fc.array(leaf, { maxLength: 2 })), { maxLength: 2 }))

const actions: fc.Arbitrary<Action[]> = fc.array(
  fc.oneof({ arbitrary: spec.map((post): Action => ({ post })), weight: 3 }, { arbitrary: fc.constant<Action>({ turn: true }), weight: 2 }),
  { maxLength: 90, size: 'max' },
)

/** Plays the actions on a mailbox, then lets all letters end. What came of each letter stands under its id. */
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
        const order = (at: Event['at']) => events.filter((event) => event.at === at && event.priority === priority).map(({ id }) => id)
        expect(order('began')).toEqual(order('posted'))
      }
    }))

  test('run control first, then interactive, then background, which waits for at most sixteen interactive ones', () =>
    property(({ events }) => {
      const waiting: Record<Priority, Set<number>> = { control: new Set(), interactive: new Set(), background: new Set() }
      let passedOver = 0
      for (const { at, id, priority } of events) {
        if (at === 'posted') waiting[priority].add(id)
        if (at !== 'began') continue
        waiting[priority].delete(id)
        if (priority !== 'control') expect(waiting.control.size).toBe(0)
        if (priority === 'background' && waiting.interactive.size > 0) expect(passedOver).toBe(TURN)
        if (priority === 'interactive' && waiting.background.size > 0) expect(++passedOver).toBeLessThanOrEqual(TURN)
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

/** A mailbox whose first letter runs until `free`; what is posted meanwhile waits. */
const held = async (options = {}) => {
  const { mailbox, post: put } = mailboxOf(options)
  const gate = newGate()
  const first = put('control', () => gate.opened)
  await settled()
  const order: string[] = []
  const post = (priority: Priority, name: string) => put(priority, async () => void order.push(name))
  return { mailbox, put, post, order, free: gate.open, first }
}

test('a background letter runs after exactly sixteen interactive ones, and another after sixteen more', async () => {
  const { mailbox, post, order, free } = await held()
  for (const name of ['b1', 'b2']) void post('background', name)
  for (let i = 0; i < 40; i++) void post('interactive', 'i')
  free()
  await mailbox.drained()
  expect(order.indexOf('b1')).toBe(16)
  expect(order.indexOf('b2')).toBe(33)
  expect(order).toHaveLength(42)
})

test('an interactive letter over the bound is refused as rate_limited:mailbox with a retry time; others have no bound', async () => {
  const { mailbox, post, free } = await held({ bound: 1 })
  const accepted = post('interactive', 'accepted')
  const refused = await post('interactive', 'refused').catch((cause) => cause)
  expect(refused).toMatchObject({ code: 'rate_limited', message: 'rate_limited:mailbox', status: 429, retryAfter: 1 })
  for (let i = 0; i < 50; i++) void Promise.all([post('control', 'c'), post('background', 'b')])
  expect(mailbox.waiting).toBe(101)
  free()
  await accepted
  await post('interactive', 'again')
})

test('a thousand interactive letters may wait', async () => {
  const { mailbox, post, order, free } = await held()
  for (let i = 0; i < 1_000; i++) void post('interactive', 'i')
  await expect(post('interactive', 'one more')).rejects.toThrow('rate_limited:mailbox')
  free()
  await mailbox.drained()
  expect(order).toHaveLength(1_000)
})

test('a letter that throws synchronously fails alone', async () => {
  const { mailbox, post } = mailboxOf()
  const thrown = post('interactive', () => {
    throw new Error('at once')
  })
  await expect(thrown).rejects.toThrow('at once')
  expect(await post('interactive', async () => 'next')).toBe('next')
  await mailbox.drained()
  expect(mailbox.idle).toBe(true)
})

describe('drained', () => {
  test('resolves at once when nothing runs', async () => {
    await mailboxOf().mailbox.drained()
  })

  test('waits for the running letter, for waiting ones, and for those they post', async () => {
    const { mailbox, put, order, free } = await held()
    const inner = newGate()
    void put('interactive', async () => {
      void put('background', () => inner.opened.then(() => void order.push('inner')))
    })
    let isDrained = false
    const drained = mailbox.drained().then(() => {
      isDrained = true
    })
    free()
    await settled()
    expect(isDrained).toBe(false)
    inner.open()
    await drained
    expect(order).toEqual(['inner'])
    expect(mailbox.idle).toBe(true)
  })

  test('does not fail when a letter does', async () => {
    const { mailbox, post } = mailboxOf()
    const failed = post('interactive', async () => Promise.reject(new Error('no')))
    await Promise.all([mailbox.drained(), expect(failed).rejects.toThrow('no')])
  })
})

describe('a group', () => {
  interface Note {
    priority: Priority
    alone: boolean
    name: string
  }

  /** Groups that take all they may get; what they took, by group. */
  const greedy = async (notes: Note[]): Promise<string[][]> => {
    const groups: string[][] = []
    const mailbox = new Mailbox<Note>(async (first, following) => {
      const group = [first.name]
      groups.push(group)
      for (let next = following.take(); next; next = following.take()) group.push(next.name)
    })
    for (const note of notes) mailbox.post(note)
    await mailbox.drained()
    return groups
  }
  const note = (name: string, priority: Priority = 'interactive', alone = false): Note => ({ name, priority, alone })

  test('takes letters in the order in which they would have run', async () => {
    const notes = [note('i1'), note('b1', 'background'), note('i2'), note('c1', 'control')]
    expect(await greedy(notes)).toEqual([['c1', 'i1', 'i2', 'b1']])
  })

  test('ends before a letter that runs alone, which takes no other with it', async () => {
    const notes = [note('i1'), note('i2'), note('i3', 'interactive', true), note('i4'), note('i5')]
    expect(await greedy(notes)).toEqual([['i1', 'i2'], ['i3'], ['i4', 'i5']])
  })

  test('gives a background letter its place after sixteen interactive ones', async () => {
    const [group] = await greedy([note('b', 'background'), ...Array.from({ length: 40 }, () => note('i'))])
    expect(group?.indexOf('b')).toBe(16)
  })
})
