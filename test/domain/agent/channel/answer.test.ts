import { expect, test } from 'bun:test'
import { toldOf } from '#domain/agent/channel/answer'
import type { OnBehalf } from '#domain/agent/job/job'
import { COPIED } from '#domain/agent/job/taint'

const member: OnBehalf = { kind: 'channel', id: 'i', personId: 'p' }
const stranger: OnBehalf = { kind: 'channel', id: 'c', personId: null }
const [thread, alone] = [{ channel: 'C1' }, { channel: 'U1' }]
const origin = { reply_to: thread, direct_to: alone, is_shared: true, config: {} }
const told = (
  on_behalf: OnBehalf,
  taint: string[],
  more: Partial<Parameters<typeof toldOf>[1]> = {},
  text = 'Nine.',
) => toldOf({ on_behalf, taint }, { ...origin, ...more }, text)

test.each([
  [
    'a member whose job has read nothing from outside, where others read',
    told(member, []),
    thread,
    null,
  ],
  [
    'a member whose job has, where nobody else reads',
    told(member, ['signal'], { is_shared: false }),
    thread,
    null,
  ],
  [
    'a stranger who is answered at once, though others read',
    told(stranger, ['channel slack'], { config: { reply: 'auto' } }),
    thread,
    null,
  ],
  [
    'a stranger: a person decides',
    told(stranger, ['channel slack'], { config: { reply: 'hold' } }),
    thread,
    'It answers somebody outside the workspace, and config.reply of the channel is not auto.',
  ],
  [
    'what a copy of the deployment may have answered too: a person decides',
    told(stranger, [COPIED], { config: { reply: 'auto' } }),
    thread,
    'A copy of this deployment, or its original, may have answered already.',
  ],
  [
    'nobody, since there are no words',
    told(member, ['signal'], { direct_to: null }, ' '),
    thread,
    null,
  ],
  ['a member whose job has, where others read: alone', told(member, ['signal']), alone, null],
  [
    'a member whose job has, where others read, and there is no other place: a person decides',
    told(member, ['signal', 'fetch_url example.com'], {
      direct_to: null,
      config: { reply: 'auto' },
    }),
    thread,
    'Others read along where it would go, and there is no way to answer the sender alone. The job has read words of others: signal, fetch_url example.com.',
  ],
])('tells %s', (_, { replyTo, held: why }, place, held) => {
  expect([replyTo, why]).toEqual([place, held])
})

test('says why it answers elsewhere, and only then', () => {
  expect(told(member, []).text).toBe('Nine.')
  expect(told(member, ['signal']).text).toMatch(/^You asked where others can read\. .*\n\nNine\.$/)
})
