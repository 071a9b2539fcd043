import { expect, test } from 'bun:test'
import { channelNames } from '#contract/channel-names'
import { linkSteps } from '#domain/agent/channel/linking'

const place = {
  id: 'f0',
  routing_key: 'KEY',
  display_name: 'Help desk',
  config: {},
  status: 'active',
} as const
const stepsIn = (more: Partial<Parameters<typeof linkSteps>[0]>): string =>
  linkSteps({ ...place, channel: 'dev', ...more }, 'https://tendril.example.com').join('\n')

test('the steps say where the code goes, and that a second one comes where senders can be forged', () => {
  for (const channel of channelNames)
    expect([channel, stepsIn({ channel }).includes('second code')]).toEqual([
      channel,
      channel === 'email' || channel === 'sms',
    ])
  expect(stepsIn({ channel: 'email' })).toContain('mail to KEY')
  expect(stepsIn({ channel: 'sms' })).toContain('to KEY as a text message')
  expect(stepsIn({ channel: 'slack' })).toContain('Help desk')
  expect(stepsIn({})).toContain('https://tendril.example.com/channels/dev/f0')
})

test('people are told the number of a WhatsApp channel, never the id that names it', () => {
  const told = stepsIn({ channel: 'whatsapp', config: { displayPhoneNumber: '+49 30 1' } })
  expect(told).toContain('+49 30 1')
  for (const config of [{}, { displayPhoneNumber: 'x' }])
    expect(stepsIn({ channel: 'whatsapp', config })).not.toContain('KEY')
})

test('a channel that takes nothing in says so first', () => {
  expect(stepsIn({ status: 'unverified' })).toStartWith('This channel takes nothing in yet')
  expect(stepsIn({ status: 'failing' })).not.toContain('takes nothing in')
})
