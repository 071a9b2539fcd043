/** What an operator reads of values that do not open. */
import { expect, test } from 'bun:test'
import { LeftValues, refuseUnopened } from '#server/key-rotation/left'

const refusal = (counted: Record<string, number>): string => {
  const left = new LeftValues()
  left.add('w', counted)
  try {
    refuseUnopened('0123', left)
  } catch (cause) {
    return (cause as Error).message
  }
  return ''
}

test('values that people have set are to be set anew; others say how they go', () => {
  expect(refusal({})).toBe('')
  const env = refusal({ 'mcp_server.env': 1 })
  expect(env).toContain('1 in mcp_server.env of w. Set them anew or delete them')
  expect(env).not.toContain('goes')
  const answer = refusal({ 'idempotency.body': 2 })
  expect(answer).toContain('idempotency.body, a stored answer, goes by itself within a day')
  expect(answer).not.toContain('Set them anew')
  const both = refusal({ 'webhook_rule.secret': 1, 'channel_reply.secret': 1 })
  expect(both).toContain('Set them anew')
  expect(both).toContain('goes once its reply is sent, discarded or removed. Then run this again')
})
