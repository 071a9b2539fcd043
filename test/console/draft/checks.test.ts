/** What the browser says of a text before the server is asked. */
import { describe, expect, test } from 'bun:test'
import { noRules } from '#domain/growth/drafting/format-rules'
import { measureOf } from '#domain/growth/length/measure-of'
import { checkText, type TextRules } from '#src/console/inbox/draft/checks'
import { useSharedApp } from '#test/support/use'

describe('a text', () => {
  const app = useSharedApp()
  const rulesNow = async (): Promise<TextRules> => {
    const { limits } = (await app.send('GET', 'connection')).body.connection
    return { kind: 'post', limits, rules: undefined }
  }

  test('is counted by the rule of its account, which the browser knows', async () => {
    const { limits } = await rulesNow()
    expect(measureOf(limits.counting)).toBeDefined()
    expect(measureOf('as nobody counts')).toBeUndefined()
  })

  test('has the faults, the length and the bytes that the server says', async () => {
    const rules = await rulesNow()
    const texts = [
      'Two lines\r\nand a link to dock.example.com/a/b #late',
      'x'.repeat(281),
      'nfc é nfd e\u0301 😀👨‍👩‍👧‍👦',
      'zero\u200bwidth and \u202eback',
    ]
    for (const text of texts) {
      const check = checkText(text, rules)
      const { preview } = (await app.send('POST', 'items/preview', { body: { body: check.body } }))
        .body
      expect({ body: check.body, length: check.length, limit: check.limit }).toEqual({
        body: preview.body,
        length: preview.length,
        limit: preview.max_length,
      })
      expect([text, check.faults.length === 0]).toEqual([text, preview.can_be_approved])
      expect(check.bytes).toBe(Buffer.byteLength(preview.body))
    }
  })

  test('cannot be approved with a control character, without words, or against its channel', async () => {
    const rules = { ...(await rulesNow()), rules: { ...noRules, max_hashtags: 1 } }
    expect(checkText('a\u0007b', rules).faults[0]).toContain('U+0007')
    expect(checkText(' \n ', rules).faults).toEqual(['The text is empty.'])
    expect(checkText('#a #b', rules).faults).toEqual([
      'It breaks a rule of its channel: 2 hashtags, at most 1.',
    ])
    expect(checkText('a\u200bb\u200b', rules).unseen).toEqual([
      'zero-width space',
      'zero-width space',
    ])
  })
})
