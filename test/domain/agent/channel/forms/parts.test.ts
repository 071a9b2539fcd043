/**
 * The parts of a text: no more of it is read than they can hold, and without its form it is text.
 */
import { expect, test } from 'bun:test'
import { channelNames } from '#contract/channel-names'
import { CUT, partsOf, plainPartsOf, replyLimits } from '#domain/agent/channel/forms/parts'
import { hostile } from '../../../../support/texts/markdown.ts'

const LONGEST = { email: 100_000, slack: 4_000, whatsapp: 4_096, sms: 1_530, dev: 16_000 }

test.each([...channelNames])(
  '%s: a text longer than the parts can hold says that there is more',
  (channel) => {
    for (const make of [partsOf, plainPartsOf]) {
      const most = replyLimits.parts * LONGEST[channel]
      const { texts, html } = make(channel, `${'word '.repeat(most / 5)}END`)
      expect(texts.join(' ')).not.toContain('END')
      expect([texts.at(-1), html]).toEqual([CUT, null])
    }
  },
)

test.each(Object.entries(hostile))(
  'plain parts of %s lose nothing, are within the limit, and mention nobody',
  (_, make) => {
    const text = `${make(20_000)} <!channel>`
    for (const channel of channelNames) {
      const { texts } = plainPartsOf(channel, text)
      expect(texts.every((part) => part.length <= LONGEST[channel] && part.isWellFormed())).toBe(
        true,
      )
      const letters = (all: string) => all.replaceAll(/[^a-z]/g, '').length
      if (texts.length <= replyLimits.parts && channel !== 'sms')
        expect(letters(texts.join(''))).toBeGreaterThanOrEqual(letters(text))
      if (channel === 'slack') expect(texts.join('')).not.toMatch(/[<>]/)
    }
  },
)

test('a mail has its text in HTML, too', () => {
  expect(partsOf('email', 'Two **items**')).toEqual({
    texts: ['Two items'],
    html: ['<div><p>Two <strong>items</strong></p></div>'],
  })
})
