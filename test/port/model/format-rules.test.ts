/**
 * How drafters keep to the rules of a channel: the composer by construction, a model by its prompt
 * and checks.
 */
import { describe, expect, test } from 'bun:test'
import type { DraftBrief } from '#domain/growth/drafting/draft'
import {
  checkRules,
  type FormatRules,
  lineBreaksIn,
  noRules,
} from '#domain/growth/drafting/format-rules'
import { emptyProfile } from '#domain/growth/drafting/profile'
import { createComposer } from '#port/model/composer/composer'
import type { GenerationError } from '#port/model/drafter'
import { engineerProfile, softwareProfile, studioProfile } from '#test/support/growth/profiles'
import { articleBrief, briefWith, neverAborts } from '#test/support/model/briefs'
import { validArticle, validDrafts } from '#test/support/model/fake-drafts'
import { createFakeOpenAi } from '#test/support/model/fake-openai'
import { inlineWorker } from '#test/support/model/inline-worker'
import { drafterOn } from '#test/support/model/openai-drafter'

const composer = createComposer(inlineWorker)
const SEEDS = Array.from({ length: 10 }, (_, seed) => `seed-${seed}`)
const rulesOf = (rules: Partial<FormatRules>): FormatRules => ({ ...noRules, ...rules })
const drafts = async (rules: Partial<FormatRules>, changes: Partial<DraftBrief> = {}) =>
  (await composer.draft(briefWith({ rules: rulesOf(rules), ...changes }), neverAborts())).drafts
const hintOf = (writing: Promise<unknown>): Promise<string> =>
  writing.then(
    () => 'written',
    (cause: GenerationError) => cause.hint,
  )

describe('the composer', () => {
  const cases: Partial<FormatRules>[] = [
    { max_length: 120 },
    { min_length: 150 },
    { min_length: 120, max_length: 200, max_line_breaks: 1 },
    { max_line_breaks: 0 },
    { banned_words: ['onboarding', 'clay', 'pipeline', 'we'] },
    { max_links: 0, max_hashtags: 0, max_emoji: 0 },
  ]
  test.each(cases)('keeps every draft to %j, and still fills most of a batch', async (rules) => {
    for (const profile of [softwareProfile, studioProfile, engineerProfile])
      for (const seed of SEEDS) {
        const written = await drafts(rules, { profile, seed })
        for (const { body } of written)
          expect(checkRules(body, rulesOf(rules), (text) => [...text].length)).toEqual([])
        expect(written.length).toBeGreaterThanOrEqual(3)
      }
  })

  test('sets a post without empty lines, or on one line, rather than dropping it', async () => {
    const wide = (await Promise.all(SEEDS.map((seed) => drafts({}, { seed })))).flat()
    expect(wide.some(({ body }) => lineBreaksIn(body) > 1)).toBeTrue()
    const close = (
      await Promise.all(SEEDS.map((seed) => drafts({ max_line_breaks: 1 }, { seed })))
    ).flat()
    expect(close.every(({ body }) => lineBreaksIn(body) <= 1)).toBeTrue()
    expect(close.length).toBe(wide.length)
  })

  test('mentions a product without its address if links are not allowed', async () => {
    const products = [
      {
        name: 'Loopline',
        one_liner: 'onboarding that asks one question',
        url: 'https://loopline.example/demo',
      },
    ]
    const [draft] = await drafts({ max_links: 0 }, { profile: emptyProfile, products })
    expect(draft!.body).toBe('Loopline: onboarding that asks one question.')
  })

  test('names the channel whose rules exclude every draft', async () => {
    const products = [
      { name: 'Loopline', one_liner: 'see https://a.example and https://b.example', url: null },
    ]
    const hint = await hintOf(drafts({ max_links: 0 }, { profile: emptyProfile, products }))
    expect(hint).toContain('format rule of channel posts')
  })

  test('keeps an article to the rules, or names the one it cannot keep', async () => {
    const article = async (rules: Partial<FormatRules>) =>
      (await composer.article(articleBrief({ rules: rulesOf(rules) }), neverAborts())).article
    const { title, text } = await article({ max_line_breaks: 25, banned_words: ['Friday'] })
    expect(lineBreaksIn(`${title}\n\n${text}`)).toBeLessThanOrEqual(25)
    expect(text).not.toContain('Friday')
    expect(await hintOf(article({ max_line_breaks: 3 }))).toContain(
      'breaks the rule max_line_breaks',
    )
  })
})

describe('a model', () => {
  const rules = rulesOf({ max_hashtags: 1, banned_words: ['growth'] })

  test('is given the rules that are set, and no others', async () => {
    await using fake = await createFakeOpenAi()
    await drafterOn(fake.url).draft(briefWith({ rules }), neverAborts())
    const [system, user] = fake.calls[0]!.body.messages
    expect(JSON.parse(user!.content).format_rules).toEqual({
      max_hashtags: 1,
      banned_words: ['growth'],
    })
    expect(system!.content).toContain('"format_rules"')
  })

  test('repairs a draft that breaks a rule; one that still does is dropped and the rest delivered', async () => {
    const bad = (input: Parameters<typeof validDrafts>[0]) => ({
      drafts: validDrafts(input).map((draft, index) =>
        index < 2 ? { ...draft, body: `${draft.body} #a #b Growth.` } : draft,
      ),
    })
    await using fake = await createFakeOpenAi({ write: bad }, { write: bad })
    const { drafts: kept } = await drafterOn(fake.url).draft(briefWith({ rules }), neverAborts())
    const told = fake.calls[1]!.body.messages.at(-1)!.content
    expect(told).toContain('post 1: the body breaks the rule max_hashtags: 2 hashtags, at most 1')
    expect(told).toContain('post 2: the body breaks the rule banned_words: it contains "growth"')
    expect(kept.length).toBe(3)
    expect(kept.every(({ body }) => !body.includes('#'))).toBeTrue()
  })

  test('has an article refused that breaks a rule twice', async () => {
    const bad = (input: Parameters<typeof validArticle>[0]) => ({
      ...validArticle(input),
      title: 'On #a and #b',
    })
    await using fake = await createFakeOpenAi({ write: bad }, { write: bad })
    const hint = await hintOf(drafterOn(fake.url).article(articleBrief({ rules }), neverAborts()))
    expect(hint).toContain('format rule of channel articles')
    expect(fake.calls[1]!.body.messages.at(-1)!.content).toContain(
      'breaks the rule max_hashtags: 2 hashtags, at most 1',
    )
    expect(JSON.parse(fake.calls[0]!.body.messages[1]!.content).format_rules).toEqual({
      max_hashtags: 1,
      banned_words: ['growth'],
    })
  })
})
