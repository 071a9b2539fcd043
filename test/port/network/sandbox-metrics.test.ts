/** The metrics of the sandbox: they grow, end, repeat, and depend on the post. */
import { expect, test } from 'bun:test'
import { type Metrics, reactions } from '#domain/growth/metrics'
import { type SandboxRead, sandboxMetrics } from '#port/network/sandbox/metrics'

const HOUR = 3_600_000
const post = (changes: Partial<SandboxRead> = {}): SandboxRead => ({
  accountId: 'account',
  postId: 'post',
  text: 'Every delay starts at the dock.',
  ageMs: 7 * 24 * HOUR,
  ...changes,
})
const names = [
  'impressions',
  'likes',
  'replies',
  'reposts',
  'quotes',
  'clicks',
] as const satisfies (keyof Metrics)[]

test('metrics start at zero, never fall, and stop after a week', () => {
  let before = sandboxMetrics(post({ ageMs: 0 }))
  expect(Object.values(before)).toEqual(names.map(() => 0))
  for (let hours = 1; hours <= 168; hours++) {
    const now = sandboxMetrics(post({ ageMs: hours * HOUR }))
    for (const name of names) expect(now[name]).toBeGreaterThanOrEqual(before[name])
    before = now
  }
  expect(before.impressions).toBeGreaterThan(50)
  expect(sandboxMetrics(post({ ageMs: 900 * HOUR }))).toEqual(before)
  expect(sandboxMetrics(post({ ageMs: -HOUR })).impressions).toBe(0)
})

test('most readers see a post within a day, and no more react than have seen it', () => {
  const [day, week] = [24 * HOUR, 168 * HOUR].map((ageMs) => sandboxMetrics(post({ ageMs })))
  expect(day!.impressions).toBeGreaterThan(week!.impressions / 2)
  for (let index = 0; index < 200; index++) {
    const one = sandboxMetrics(
      post({ accountId: `account ${index}`, text: '3 rules\n- one\n- two\nWhich is yours?' }),
    )
    expect(reactions(one)).toBeLessThanOrEqual(one.impressions)
  }
})

test('a post with a link gets far more clicks than one without', () => {
  const clicks = (text: string) => sandboxMetrics(post({ text })).clicks
  expect(clicks('Every delay starts at the dock: https://example.com')).toBeGreaterThan(
    3 * clicks('Every delay starts at the dock.'),
  )
})

test("different accounts' readers prefer different posts", () => {
  const rate = (accountId: string, text: string) => {
    const all = Array.from({ length: 40 }, (_, index) =>
      sandboxMetrics(post({ accountId, postId: `post ${index}`, text })),
    )
    return (
      all.reduce((sum, one) => sum + reactions(one), 0) /
      all.reduce((sum, one) => sum + one.impressions, 0)
    )
  }
  const liking = Array.from({ length: 30 }, (_, index) => {
    const account = `account ${index}`
    return (
      rate(account, 'Every delay starts at the dock?') /
      rate(account, 'Every delay starts at the dock.')
    )
  })
  for (const times of liking) expect(Math.max(times, 1 / times)).toBeGreaterThan(1.2)
  expect(liking.some((times) => times > 1)).toBeTrue()
  expect(liking.some((times) => times < 1)).toBeTrue()
})
