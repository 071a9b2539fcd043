import { describe, expect, test } from 'bun:test'
import { noCadence } from '#domain/growth/drafting/cadence'
import { noRules } from '#domain/growth/drafting/format-rules'
import {
  type ChannelPatch,
  type ChannelStatus,
  channelFor,
  channelOfRow,
  type GrowthChannel,
  growthChannelNames,
  limitOf,
  requireActiveChannel,
  updateChannel,
} from '#domain/growth/drafting/growth-channel'
import { errorOf } from '#test/domain/errors'
import { at } from '#test/domain/records'

const channel: GrowthChannel = Object.freeze<GrowthChannel>({
  id: 'channel-1',
  name: 'posts',
  status: 'active',
  format_rules: { ...noRules, max_hashtags: 2, banned_words: ['synergy'] },
  cadence: { ...noCadence, days: ['mon'], times: ['09:00'] },
  created_at: at(),
  updated_at: at(),
})
const change = (patch: ChannelPatch, before = channel) =>
  updateChannel(before, patch, { limit: 280, now: at(1_000) })
const refusal = (patch: ChannelPatch) => {
  const { code, details } = errorOf(() => change(patch))
  return [code, details?.[0]?.path, details?.[0]?.message]
}

describe('the state of a channel', () => {
  const statuses: ChannelStatus[] = ['active', 'inactive']
  const cells = growthChannelNames.flatMap((name) =>
    statuses.flatMap((before) =>
      [undefined, ...statuses].map((asked) => [name, before, asked] as const),
    ),
  )

  test.each(cells)('of %s, %s, set to %s, changes or stays', (name, status, asked) => {
    const next = change(asked ? { status: asked } : {}, { ...channel, name, status })
    expect(next).toEqual({ ...channel, name, status: asked ?? status, updated_at: at(1_000) })
  })

  test.each(growthChannelNames)('of %s decides whether it takes new work', (name) => {
    expect(() => requireActiveChannel({ id: 'id', name, status: 'active' })).not.toThrow()
    const message = `channel ${name} is inactive; set its status to active to draft for it`
    const details = [{ path: 'next', message: 'growth.channels.update id' }]
    expect(
      errorOf(() => requireActiveChannel({ id: 'id', name, status: 'inactive' })),
    ).toMatchObject({
      code: 'conflict',
      message,
      details,
    })
  })

  test('does not matter if there is no channel', () =>
    expect(() => requireActiveChannel(undefined)).not.toThrow())
})

describe('a change', () => {
  test('leaves fields it does not name, also inside rules and cadence; null removes a rule', () => {
    expect(change({ format_rules: { max_links: 0 } }).format_rules).toEqual({
      ...channel.format_rules,
      max_links: 0,
    })
    expect(change({ format_rules: { max_hashtags: null } }).format_rules).toEqual({
      ...noRules,
      banned_words: ['synergy'],
    })
    expect(change({ cadence: { posts_per_day: 1 } }).cadence).toEqual({
      ...channel.cadence,
      posts_per_day: 1,
    })
    expect(change({ cadence: { days: [], times: [] } }).cadence).toEqual(noCadence)
  })

  test('tidies lists', () => {
    expect(
      change({ format_rules: { banned_words: [' Hack', 'hack'] } }).format_rules.banned_words,
    ).toEqual(['Hack'])
    expect(
      change({ cadence: { days: ['fri', 'mon', 'mon'], times: ['17:00', '09:00'] } }).cadence,
    ).toMatchObject({
      days: ['mon', 'fri'],
      times: ['09:00', '17:00'],
    })
  })

  test.each([
    [
      { format_rules: { max_length: 281 } },
      'format_rules.max_length',
      'is 281; the network allows at most 280',
    ],
    [
      { format_rules: { min_length: 90, max_length: 80 } },
      'format_rules.min_length',
      'is 90 and max_length is 80: no text can satisfy both',
    ],
    [
      { cadence: { days: [] } },
      'cadence.days',
      'must not be empty while times is set; set both, or clear both for no cadence',
    ],
    [
      { cadence: { times: [] } },
      'cadence.times',
      'must not be empty while days is set; set both, or clear both for no cadence',
    ],
  ] as const)('%j is refused', (patch, path, message) =>
    expect(refusal(patch as unknown as ChannelPatch)).toEqual(['invalid_input', path, message]),
  )
})

test('a row without rules and cadence has none', () => {
  expect(channelOfRow({ ...channel, format_rules: {}, cadence: {} })).toEqual({
    ...channel,
    format_rules: noRules,
    cadence: noCadence,
  })
})

test('items follow the channel of their kind, within the limits of the network', () => {
  expect([channelFor('post'), channelFor('article')]).toEqual(['posts', 'articles'])
  const limits = { maxLength: 280, maxLongLength: 25_000 }
  expect(growthChannelNames.map((name) => limitOf(name, limits))).toEqual([280, 280, 25_000, 280])
})
