import { expect, test } from 'bun:test'
import { toldOf } from '#domain/agent/channel-answer'
import type { OnBehalf } from '#domain/agent/job'

const member: OnBehalf = { kind: 'channel', id: 'i', personId: 'p' }
const stranger: OnBehalf = { kind: 'channel', id: 'c', personId: null }
const [thread, alone] = [{ channel: 'C1' }, { channel: 'U1' }]
const origin = { reply_to: thread, direct_to: alone, is_shared: true }
const told = (on_behalf: OnBehalf, taint: string[], more: Partial<Parameters<typeof toldOf>[1]> = {}, text = 'Nine.') =>
  toldOf({ on_behalf, taint }, { ...origin, ...more }, text)

test.each([
  ['a member whose job has read nothing from outside, where others read', told(member, []), thread, false],
  ['a member whose job has, where nobody else reads', told(member, ['signal'], { is_shared: false }), thread, false],
  ['a stranger, whose job has nothing private', told(stranger, ['channel slack']), thread, false],
  ['nobody, since there are no words', told(member, ['signal'], { direct_to: null }, ' '), thread, false],
  ['a member whose job has, where others read: alone', told(member, ['signal']), alone, false],
  [
    'a member whose job has, where others read, and there is no other place: a person decides',
    told(member, ['signal'], { direct_to: null }),
    thread,
    true,
  ],
])('tells %s', (_, { replyTo, isHeld }, place, held) => {
  expect([replyTo, isHeld]).toEqual([place, held])
})

test('says why it answers elsewhere, and only then', () => {
  expect(told(member, []).text).toBe('Nine.')
  expect(told(member, ['signal']).text).toMatch(/^You asked where others can read\. .*\n\nNine\.$/)
})
