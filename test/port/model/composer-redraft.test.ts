import { describe, expect, test } from 'bun:test'
import { composeArticle } from '#port/model/composer/article'
import { composeDrafts } from '#port/model/composer/drafts'
import { composeArticleAgain, composeRedraft } from '#port/model/composer/redraft'
import { articleBrief, briefWith } from '#test/support/briefs'

const [present] = composeDrafts(briefWith({ count: 1 }))
const { body, hook } = present!
const again = (hint: string, seed = 'again') => composeRedraft({ ...briefWith({ count: 1, seed }), revise: { body, hook, hint } })[0]!
const length = (text: string) => [...text].length

describe('the composer, asked to write a post again', () => {
  test('keeps to the length that the hint asks for, where the profile has such a post, and says so where not', () => {
    const short = again('make it shorter')
    expect(length(short.body) < length(body) || short.rationale.includes('No shorter one')).toBeTrue()
    const tiny = composeRedraft({ ...briefWith({ count: 1 }), revise: { body: 'x', hook, hint: 'make it shorter' } })[0]!
    expect(tiny.rationale).toContain('No shorter one could be made of your sentences.')
    const long = composeRedraft({ ...briefWith({ count: 1 }), revise: { body: 'x', hook, hint: 'make it longer' } })[0]!
    expect(long.rationale).not.toContain('No longer one')
  })

  test('takes up what the hint names, and says what it was asked', () => {
    const { body: news, rationale } = again('We opened a third office in Lisbon.')
    expect(news).toContain('We opened a third office in Lisbon.')
    expect(rationale).toStartWith('Written again for “We opened')
    expect(again('about onboarding').body).toContain('onboarding')
  })

  test('gives the same post for the same brief, and never the present one', () => {
    expect(again('another opening')).toEqual(again('another opening'))
    for (const seed of ['a', 'b', 'c', 'd']) expect(again('another opening', seed).body).not.toBe(body)
  })

  test('shortens an article, under its title', () => {
    const { title, text } = composeArticle(articleBrief())
    const revise = { body: `${title}\n\n${text}`, hook: 'article', hint: 'shorter' }
    const shorter = composeArticleAgain({ ...articleBrief(), revise })
    expect(shorter.title).toBe(title)
    expect(length(shorter.text)).toBeLessThan(length(text))
  })
})
