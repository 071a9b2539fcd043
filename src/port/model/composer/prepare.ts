import type { ArticleBrief, DraftBrief } from '#domain/growth/drafting/draft'
import type { Phrase } from '#domain/growth/drafting/phrase'
import { type Focus, focusOf } from '#domain/growth/reading/focus'
import { ruledStyle, type Style, styleOf } from '#domain/growth/reading/style'
import type { Random } from '#kernel/random'
import { forbiddenIn } from '../checks/draft.ts'
import { type Material, readMaterial } from './material.ts'

/** A brief with the demands of its voice and channel applied, and its material. */
export interface Prepared<B> {
  brief: B
  style: Style
  focus: Focus
  /** Avoided phrases and names of archived products. */
  avoid: readonly Phrase[]
  material: Material
}

/**
 * The longest sentences read, in UTF-16 units. Networks may count a sentence with addresses or
 * combining marks as shorter.
 */
const LONGEST = { article: 1_200, post: (maxLength: number) => Math.max(600, 2 * maxLength) }

/** `random` draws the sample if the profile has more than is read. */
export const prepare = <B extends ArticleBrief | DraftBrief>(
  asked: B,
  random: Random,
): Prepared<B> => {
  const { profile, rules } = asked
  const isArticle = 'topic' in asked
  const style = ruledStyle(styleOf(profile), rules)
  const writing_dna = {
    ...profile.writing_dna,
    avoid: [...profile.writing_dna.avoid, ...style.avoid, ...rules.banned_words],
  }
  const products =
    rules.max_links === 0
      ? asked.products.map((product) => ({ ...product, url: null }))
      : asked.products
  const most = isArticle ? asked.maxLength : Math.min(asked.maxLength, style.maxCharacters)
  const maxLength = Math.min(most, rules.max_length ?? most)
  const brief = { ...asked, products, maxLength, profile: { ...profile, writing_dna } }
  const focus = focusOf(isArticle ? asked.topic : asked.focus, profile.language)
  const avoid = Object.values(forbiddenIn(brief)).flat()
  const longest = isArticle ? LONGEST.article : LONGEST.post(maxLength)
  const material = readMaterial(brief, {
    style,
    avoid,
    focus,
    language: profile.language,
    longest,
    random,
  })
  return { brief, style, focus, avoid, material }
}
