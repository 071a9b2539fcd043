import { describe, expect, test } from 'bun:test'
import { composeArticle } from '#port/model/composer/article'
import { composeDrafts } from '#port/model/composer/drafts'
import { wishesIn } from '#port/model/composer/hint'
import { composeArticleAgain, composeRedraft } from '#port/model/composer/redraft'
import { articleBrief, briefWith } from '#test/support/model/briefs'

const [present] = composeDrafts(briefWith({ count: 1 }))
const { body, hook } = present!
const again = (hint: string, seed = 'again') =>
  composeRedraft({ ...briefWith({ count: 1, seed }), revise: { body, hook, hint } })[0]!
const length = (text: string) => [...text].length

describe('the composer, asked to write a post again', () => {
  test('keeps to the length that the hint asks for, where the profile has such a post, and says so where not', () => {
    const short = again('make it shorter')
    expect(
      length(short.body) < length(body) || short.rationale.includes('No shorter one'),
    ).toBeTrue()
    const tiny = composeRedraft({
      ...briefWith({ count: 1 }),
      revise: { body: 'x', hook, hint: 'make it shorter' },
    })[0]!
    expect(tiny.rationale).toContain('No shorter one could be made of your sentences.')
    const long = composeRedraft({
      ...briefWith({ count: 1 }),
      revise: { body: 'x', hook, hint: 'make it longer' },
    })[0]!
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
    for (const seed of ['a', 'b', 'c', 'd'])
      expect(again('another opening', seed).body).not.toBe(body)
  })

  test('shortens an article, under its title', () => {
    const { title, text } = composeArticle(articleBrief())
    const revise = { body: `${title}\n\n${text}`, hook: 'article', hint: 'shorter' }
    const shorter = composeArticleAgain({ ...articleBrief(), revise })
    expect(shorter.title).toBe(title)
    expect(length(shorter.text)).toBeLessThan(length(text))
  })
})

describe('a hint', () => {
  test.each<[string, object]>([
    ['shorter', { length: 'shorter' }],
    [
      'Make it shorter, without emoji, and end on a question.',
      { length: 'shorter', edits: ['no_emoji', 'question'] },
    ],
    ['no hashtags please', { edits: ['no_hashtags'] }],
    ['remove the emojis and the hashtags', { edits: ['no_emoji', 'no_hashtags'] }],
    ['No emoji, hashtags or links!', { edits: ['no_emoji', 'no_hashtags', 'no_links'] }],
    ['drop the links; ask a question at the end', { edits: ['no_links', 'question'] }],
    ['try another hook', { otherHook: true }],
    ['open differently but keep the tone', { otherHook: true, beyond: ['keep the tone'] }],
    ['shorter, and end on the number', { length: 'shorter', beyond: ['end on the number'] }],
    ['make it funnier', { beyond: ['make it funnier'] }],
    ['less formal, more playful', { beyond: ['less formal', 'more playful'] }],
    ['more detail', { length: 'longer' }],
    ['a bit shorter', { length: 'shorter' }],
    ['longer, about onboarding', { length: 'longer', topic: 'onboarding' }],
    ['about onboarding', { topic: 'about onboarding' }],
    ["don't mention pricing", { beyond: ["don't mention pricing"] }],
    [
      'shorter, and cut the part about churn',
      { length: 'shorter', beyond: ['cut the part about churn'] },
    ],
    ['in a warmer tone', { beyond: ['in a warmer tone'] }],
    ['a customer story from Berlin', { topic: 'a customer story from Berlin' }],
    [
      'shorter; in March we opened a shop',
      { length: 'shorter', topic: 'in March we opened a shop' },
    ],
    [
      'We opened a third office in Lisbon, and hired 12 more people there.',
      { topic: 'We opened a third office in Lisbon, and hired 12 more people there.' },
    ],
  ])('%j is read as what it asks for', (hint, expected) => {
    const { edits, ...read } = wishesIn(hint)
    expect({ ...read, edits: [...edits] }).toEqual({
      length: undefined,
      otherHook: false,
      topic: '',
      beyond: [],
      edits: [],
      ...expected,
    } as never)
  })
})

describe('a hint about the wording', () => {
  const text =
    'We moved the dock 🚚 to Lisbon. It took #three weeks, see https://example.com/dock today.\n\n#logistics #dock'
  const redrafted = (hint: string, more: object = {}, changes: object = {}) =>
    composeRedraft({
      ...briefWith({ count: 1, ...changes }),
      revise: { body: text, hook: 'own-words', hint, ...more },
    })[0]!

  test('changes nothing else of the present text', () => {
    const without = (hint: string) => redrafted(hint).body
    expect(without('no emoji')).toBe(text.replace(' 🚚', ''))
    expect(without('please remove the hashtags')).toBe(
      text.replace('#three', 'three').replace('\n\n#logistics #dock', ''),
    )
    expect(without('drop the link')).toBe(text.replace(' https://example.com/dock', ''))
    expect(without('end with a question')).toBe(`${text}\n\nDoes this sound familiar?`)
    const all =
      'We moved the dock to Lisbon. It took three weeks, see today.\n\nDoes this sound familiar?'
    expect(
      redrafted('no emoji, no hashtags, no links, and ask a question at the end'),
    ).toMatchObject({ body: all, hook: 'own-words' })
  })

  test('says what was not done, and does not put the words of an instruction into the text', () => {
    for (const hint of [
      'make it funnier',
      'sound more like a pirate ship captain of old',
      'shorter, and end on the number',
    ]) {
      const { body, rationale } = redrafted(hint)
      for (const word of ['funnier', 'pirate', 'number,']) expect(body).not.toContain(word)
      expect(rationale).toContain('Not done: follow “')
      expect(rationale).toContain('The composer cannot reword sentences.')
    }
    const tight = redrafted('end with a question', {}, { maxLength: [...text].length })
    expect([
      tight.body === text,
      tight.body.endsWith('?') || tight.rationale.includes('Not done: end on a question.'),
    ]).toEqual([false, true])
    const german = { profile: { ...briefWith().profile, language: 'de' } }
    expect(redrafted('end with a question', {}, german).body).not.toContain('familiar')
  })

  test('that is so already is an error, which says so', () => {
    for (const hint of ['no emoji', 'no emoji or links'])
      expect(() => redrafted(hint, { body: 'Docks are slow.' })).toThrow(
        'the text is as the hint asks already',
      )
  })

  test('about the opening takes another one', () => {
    for (const seed of ['a', 'b', 'c', 'd']) {
      const { hook: other, rationale } = again('another hook, please', seed)
      expect([other === hook, rationale.includes('Not done')]).toEqual([false, false])
    }
  })

  test('keeps the limits of the channel', () => {
    const rules = { ...briefWith().rules, max_line_breaks: 2 }
    const { body: kept, rationale } = redrafted('end with a question, no emoji', {}, { rules })
    expect(kept.match(/\n/g)?.length ?? 0).toBeLessThanOrEqual(2)
    expect(rationale.includes('Not done: end on a question') || kept.endsWith('?')).toBe(true)
  })
})
