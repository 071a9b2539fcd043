/** Slack's markup as plain text. */
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { plainTextOf } from '#port/channel/slack/text'
import { install } from '#test/support/channels/slack-posts'
import { runs } from '#test/support/property'

test.each([
  ['<@U0LAN0Z89>: hello', 'hello'],
  ['  <@U0LAN0Z89|tendril> <@U0LAN0Z89>, hello', 'hello'],
  ['ask <@U0LAN0Z89> about <@U024BE7LH>', 'ask @U0LAN0Z89 about @U024BE7LH'],
  ['<@W012A3CDE|ada> said', '@ada said'],
  [
    'see <#C024BE7LR|general> and <#C024BE7LH> and <#C024BE7LH|>',
    'see #general and #C024BE7LH and #C024BE7LH',
  ],
  [
    '<!here> <!channel> <!subteam^SAZ94GDB8|@crew> <!subteam^SAZ94GDB8>',
    '@here @channel @crew @SAZ94GDB8',
  ],
  ['by <!date^1392734382^{date_num}|2014-02-18>', 'by 2014-02-18'],
  ['<https://example.com/a?b=1&amp;c=2>', 'https://example.com/a?b=1&c=2'],
  ['<https://evil.example|our price list>', 'our price list (https://evil.example)'],
  ['<http://example.com|example.com>', 'http://example.com'],
  ['<mailto:ada@example.com|ada@example.com> <tel:+491511|+491511>', 'ada@example.com +491511'],
  ['1 &lt; 2 &amp;&amp; 3 &gt; 2 &amp;lt;', '1 < 2 && 3 > 2 &lt;'],
  ['a < b and <> stay', 'a < b and <> stay'],
  ['*bold* _it_ ~no~ `code`', '*bold* _it_ ~no~ `code`'],
])('%s', (mrkdwn, text) => {
  expect(plainTextOf(mrkdwn, install.botUserId)).toBe(text)
})

test('text without brackets is only unescaped, and never throws or grows', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
      expect(plainTextOf(escaped, install.botUserId)).toBe(text.trim())
      expect(plainTextOf(text, undefined).length).toBeLessThanOrEqual(text.length)
    }),
    runs(300),
  )
})
