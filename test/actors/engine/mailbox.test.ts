import { describe, expect, test } from 'bun:test'
import { Mailbox, type Priority } from '#actors/engine/mailbox'
import { newGate } from '#test/support/actors/letters'
import { settled } from '#test/support/actors/manual-clock'
import { mailboxOf } from './mailboxes.ts'

/** A mailbox whose first letter runs until `free`; what is posted meanwhile waits. */
const held = async (options = {}) => {
  const { mailbox, post: put } = mailboxOf(options)
  const gate = newGate()
  const first = put('control', () => gate.opened)
  await settled()
  const order: string[] = []
  const post = (priority: Priority, name: string) =>
    put(priority, async () => void order.push(name))
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
  expect(refused).toMatchObject({
    code: 'rate_limited',
    message: 'rate_limited:mailbox',
    status: 429,
    retryAfter: 1,
  })
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
  const note = (name: string, priority: Priority = 'interactive', alone = false): Note => ({
    name,
    priority,
    alone,
  })

  test('takes letters in the order in which they would have run', async () => {
    const notes = [note('i1'), note('b1', 'background'), note('i2'), note('c1', 'control')]
    expect(await greedy(notes)).toEqual([['c1', 'i1', 'i2', 'b1']])
  })

  test('ends before a letter that runs alone, which takes no other with it', async () => {
    const notes = [note('i1'), note('i2'), note('i3', 'interactive', true), note('i4'), note('i5')]
    expect(await greedy(notes)).toEqual([['i1', 'i2'], ['i3'], ['i4', 'i5']])
  })

  test('gives a background letter its place after sixteen interactive ones', async () => {
    const [group] = await greedy([
      note('b', 'background'),
      ...Array.from({ length: 40 }, () => note('i')),
    ])
    expect(group?.indexOf('b')).toBe(16)
  })
})
