import { expect, test } from 'bun:test'
import { postOf } from '#domain/growth/drafting/article-text'
import { type HookKey, postHooks } from '#domain/growth/drafting/hooks'
import { containsPhrase, foldText } from '#domain/growth/drafting/phrase'
import { checkArticle, countWords, wordRange } from '#port/model/checks/article'
import type { Drafter } from '#port/model/drafter'
import { softwareProfile } from '#test/support/growth/profiles'
import { articleBrief, briefWith, neverAborts, replyBrief } from '#test/support/model/briefs'

/** A drafter with its surroundings, which end when it is disposed of. */
export interface DrafterFixture extends AsyncDisposable {
  drafter: Drafter
}

/** What every drafter guarantees, however it writes. */
export const drafterCases = (open: () => Promise<DrafterFixture>): void => {
  test('delivers at least one draft, and at most as many as requested', async () => {
    await using fixture = await open()
    for (const count of [1, 5, 20]) {
      const { drafts } = await fixture.drafter.draft(briefWith({ count }), neverAborts())
      expect(drafts.length).toBeGreaterThanOrEqual(1)
      expect(drafts.length).toBeLessThanOrEqual(count)
    }
  })

  test('every body fits the measure of the network', async () => {
    await using fixture = await open()
    const brief = briefWith({ maxLength: 240, measure: (text) => text.length * 2 })
    const { drafts } = await fixture.drafter.draft(brief, neverAborts())
    for (const { body } of drafts) expect(brief.measure(body)).toBeLessThanOrEqual(240)
  })

  test('no body contains an avoided phrase in any case or width', async () => {
    await using fixture = await open()
    const avoid = ['ONBOARDING', 'ｔｈｅ', 'tour']
    const profile = { ...softwareProfile, writing_dna: { ...softwareProfile.writing_dna, avoid } }
    const { drafts } = await fixture.drafter.draft(briefWith({ profile }), neverAborts())
    for (const { body } of drafts)
      for (const phrase of avoid) expect(containsPhrase(body, phrase)).toBeFalse()
  })

  test('a body can mention an active product, in its own words and numbers', async () => {
    await using fixture = await open()
    const products = [
      { name: 'Dockline', one_liner: 'a dock scheduler for 4711 depots', url: null },
    ]
    const bodies: string[] = []
    for (let seed = 0; seed < 20; seed += 1) {
      const { drafts } = await fixture.drafter.draft(
        briefWith({ products, seed: `seed ${seed}` }),
        neverAborts(),
      )
      bodies.push(...drafts.map(({ body }) => body))
    }
    const mentions = bodies.filter((body) => containsPhrase(body, 'Dockline'))
    expect(mentions.length).toBeGreaterThanOrEqual(1)
    for (const body of mentions)
      expect(foldText(body)).toContain('a dock scheduler for 4711 depots')
  })

  test('no body mentions an archived product, even if profile and focus do', async () => {
    await using fixture = await open()
    const brief = briefWith({ archived: ['LOOPLINE', 'tour'], focus: 'Loopline', count: 20 })
    const { drafts } = await fixture.drafter.draft(brief, neverAborts())
    for (const { body } of drafts)
      for (const name of brief.archived) expect(containsPhrase(body, name)).toBeFalse()
  })

  test('a batch repeats neither itself nor recent posts', async () => {
    await using fixture = await open()
    const first = await fixture.drafter.draft(briefWith(), neverAborts())
    const second = await fixture.drafter.draft(
      briefWith({ recent: first.drafts, seed: 'other' }),
      neverAborts(),
    )
    const bodies = [...first.drafts, ...second.drafts].map(({ body }) => foldText(body))
    expect(new Set(bodies).size).toBe(bodies.length)
  })

  test('every draft names its format, its hook and a rationale', async () => {
    await using fixture = await open()
    const { drafts } = await fixture.drafter.draft(briefWith(), neverAborts())
    for (const { format, hook, rationale } of drafts) {
      expect(format).toMatch(/^\S.*$/)
      expect(postHooks).toContain(hook as HookKey)
      expect(rationale).toMatch(/^\S.{10,}/)
    }
  })

  test('stories are entries of the profile, verbatim, and learnings are ids of the brief', async () => {
    await using fixture = await open()
    const learnings = [
      { id: 'learning-1', kind: 'worked' as const, note: 'Stories that admit a mistake' },
    ]
    const { drafts } = await fixture.drafter.draft(briefWith({ learnings }), neverAborts())
    for (const draft of drafts) {
      for (const story of draft.stories)
        expect(softwareProfile.writing_dna.stories).toContain(story)
      for (const id of draft.learnings) expect(id).toBe('learning-1')
    }
  })

  test('a post that is written again is one other valid post', async () => {
    await using fixture = await open()
    const { drafts } = await fixture.drafter.draft(briefWith({ count: 1 }), neverAborts())
    const { body, hook } = drafts[0]!
    const again = briefWith({
      count: 1,
      revise: { body, hook, hint: 'another opening' },
      seed: 'again',
    })
    const written = await fixture.drafter.draft(again, neverAborts())
    expect(written.drafts).toHaveLength(1)
    expect(foldText(written.drafts[0]!.body)).not.toBe(foldText(body))
    expect(again.measure(written.drafts[0]!.body)).toBeLessThanOrEqual(again.maxLength)
  })

  test('an article that is written again differs from the present one', async () => {
    await using fixture = await open()
    const { article } = await fixture.drafter.article(articleBrief(), neverAborts())
    const body = postOf(article.title, article.text)
    const revise = { body, hook: 'article', hint: 'shorter' }
    const again = await fixture.drafter.article(
      articleBrief({ revise, seed: 'again' }),
      neverAborts(),
    )
    expect(postOf(again.article.title, again.article.text)).not.toBe(body)
  })

  test('names its model, and counts usage in whole numbers', async () => {
    await using fixture = await open()
    const { model, usage } = await fixture.drafter.draft(briefWith(), neverAborts())
    expect(model).toBe(fixture.drafter.name)
    for (const amount of Object.values(usage))
      expect(Number.isSafeInteger(amount) && amount >= 0).toBeTrue()
  })

  test('rejects with the reason of an aborted signal', async () => {
    await using fixture = await open()
    const reason = new Error('the batch was cancelled')
    await expect(fixture.drafter.draft(briefWith(), AbortSignal.abort(reason))).rejects.toBe(reason)
  })

  test('an article has a one-line title, no more words than requested, and a rationale', async () => {
    await using fixture = await open()
    for (const words of [600, 1_200]) {
      const brief = articleBrief({ words })
      const { article } = await fixture.drafter.article(brief, neverAborts())
      expect(article.title).toMatch(/^\S.*$/)
      expect(countWords(article.text)).toBeLessThanOrEqual(wordRange(brief).most)
      expect(article.rationale).toMatch(/^\S.{10,}/)
      expect(checkArticle(article, brief)).toEqual([])
    }
  })

  test('the points of an outline are the headings of an article, in their order', async () => {
    await using fixture = await open()
    const points = ['Results first', 'The mistake', 'What onboarding is for', 'Whom we hired']
    const { article } = await fixture.drafter.article(articleBrief({ points }), neverAborts())
    const lines = article.text.split('\n')
    const at = points.map((point) => lines.indexOf(point))
    expect(at.every((line) => line >= 0)).toBeTrue()
    expect(at).toEqual(at.toSorted((one, other) => one - other))
    for (const line of at)
      expect(lines.slice(line + 1).find((text) => text !== '')).not.toBeOneOf([
        ...points,
        undefined,
      ])
  })

  test('an article with its title fits the measure of the network', async () => {
    await using fixture = await open()
    const brief = articleBrief({ maxLength: 2_600, measure: (text) => text.length * 2 })
    const { article } = await fixture.drafter.article(brief, neverAborts())
    expect(brief.measure(`${article.title}\n\n${article.text}`)).toBeLessThanOrEqual(2_600)
  })

  test('an article contains no avoided phrase in any case or width, and no paragraph twice', async () => {
    await using fixture = await open()
    const avoid = ['HOMEPAGE', 'ｔｏｕｒ']
    const profile = { ...softwareProfile, writing_dna: { ...softwareProfile.writing_dna, avoid } }
    const { article } = await fixture.drafter.article(articleBrief({ profile }), neverAborts())
    for (const phrase of avoid) expect(containsPhrase(article.text, phrase)).toBeFalse()
    const paragraphs = article.text.split('\n').filter((line) => line !== '')
    expect(new Set(paragraphs).size).toBe(paragraphs.length)
  })

  test('an article mentions no archived product, even if the profile does', async () => {
    await using fixture = await open()
    const brief = articleBrief({ archived: ['Loopline', 'tour'] })
    const { article } = await fixture.drafter.article(brief, neverAborts())
    for (const name of brief.archived)
      expect(containsPhrase(`${article.title}\n${article.text}`, name)).toBeFalse()
  })

  test("an article's stories are entries of the profile, and it names its model", async () => {
    await using fixture = await open()
    const { article, model, usage } = await fixture.drafter.article(articleBrief(), neverAborts())
    expect(article.stories.length).toBeGreaterThan(0)
    for (const story of article.stories)
      expect(softwareProfile.writing_dna.stories).toContain(story)
    expect(model).toBe(fixture.drafter.name)
    for (const amount of Object.values(usage))
      expect(Number.isSafeInteger(amount) && amount >= 0).toBeTrue()
  })

  test('an article rejects with the reason of an aborted signal', async () => {
    await using fixture = await open()
    const reason = new Error('the article was cancelled')
    await expect(fixture.drafter.article(articleBrief(), AbortSignal.abort(reason))).rejects.toBe(
      reason,
    )
  })

  test.each(['reply', 'quote'] as const)(
    'a %s fits, has no avoided phrase, no archived product, and a rationale',
    async (action) => {
      await using fixture = await open()
      const avoid = ['HOMEPAGE', 'ｔｏｕｒ']
      const profile = { ...softwareProfile, writing_dna: { ...softwareProfile.writing_dna, avoid } }
      const brief = replyBrief({
        action,
        profile,
        archived: ['Loopline'],
        maxLength: 240,
        measure: (text) => text.length * 2,
      })
      const { reply, model, usage } = await fixture.drafter.reply(brief, neverAborts())
      expect(brief.measure(reply.body)).toBeLessThanOrEqual(240)
      for (const phrase of [...avoid, 'Loopline'])
        expect(containsPhrase(reply.body, phrase)).toBeFalse()
      expect(reply.rationale).toMatch(/^\S.{10,}/)
      expect(model).toBe(fixture.drafter.name)
      expect(Number.isSafeInteger(usage.cost_micros)).toBeTrue()
    },
  )

  test('a reply rejects with the reason of an aborted signal', async () => {
    await using fixture = await open()
    const reason = new Error('the reply was cancelled')
    await expect(fixture.drafter.reply(replyBrief(), AbortSignal.abort(reason))).rejects.toBe(
      reason,
    )
  })
}
