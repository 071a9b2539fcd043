import { type DraftBrief, noUsage } from '#domain/draft'
import type { Profile } from '#domain/profile'
import { type Drafter, GenerationError } from '../drafter.ts'
import { type Batch, fillBatch, type Weighed } from './batch.ts'
import type { Form, Scope } from './candidate.ts'
import { type Focus, focusOf } from './focus.ts'
import { audienceCall, openQuestion, shortNews, topicLabel } from './forms-address.ts'
import { checklist, ownList, phraseOverProof, receipts, sideBySide } from './forms-list.ts'
import { askAbout, disagree, lessonFirst, oneLine, ownPhrase, proofFirst } from './forms-point.ts'
import { endingFirst, openSituation, shortVersion, storyExcerpt, storyInOrder, thenAndNow } from './forms-story.ts'
import { advise, type Guidance, guidanceOf } from './guidance.ts'
import { type Material, materialOf } from './material.ts'
import { createRandom, shuffled } from './random.ts'
import { type Style, styleOf } from './style.ts'

/** Forms that put the person's sentences together and add nothing: good in any language. */
const neutralForms: readonly Form[] = [storyInOrder, oneLine, receipts, sideBySide, shortNews]

const englishForms: readonly Form[] = [
  ...neutralForms,
  storyExcerpt,
  endingFirst,
  openSituation,
  thenAndNow,
  shortVersion,
  lessonFirst,
  disagree,
  proofFirst,
  ownPhrase,
  askAbout,
  ownList,
  checklist,
  phraseOverProof,
  audienceCall,
  topicLabel,
  openQuestion,
]

/** More material than this is sampled, so that a batch takes milliseconds whatever the profile holds. */
const MOST_ENTRIES = 60

/** When the profile knows the subject, posts about other subjects are the exception. */
const OFF_FOCUS = 0.004

const weigh = (scope: Scope, guidance: Guidance): Weighed[] => {
  const forms = scope.style.english ? englishForms : neutralForms
  const advised = forms.flatMap((form) => form(scope)).map((candidate) => ({ candidate, advice: advise(guidance, candidate) }))
  const known = advised.some(({ advice }) => advice.relevant)
  return advised.map(({ candidate, advice }) => {
    const asked = candidate.units.length === 0
    const fit = known && !advice.relevant && !asked ? OFF_FOCUS : 1
    return { candidate, advice, weight: candidate.weight * advice.factor * fit }
  })
}

/** The voice rules can tighten what the network and the avoid-list demand. */
const tightened = (brief: DraftBrief, style: Style): DraftBrief => {
  const dna = brief.profile.writing_dna
  const writing_dna = { ...dna, avoid: [...dna.avoid, ...style.avoid] }
  return { ...brief, maxLength: Math.min(brief.maxLength, style.maxCharacters), profile: { ...brief.profile, writing_dna } }
}

const sampled = (material: Material, random: () => number): Material => ({
  ...material,
  stories: shuffled(random, material.stories)
    .sort((a, b) => Number(b.source === 'news') - Number(a.source === 'news'))
    .slice(0, MOST_ENTRIES),
  proof: shuffled(random, material.proof).slice(0, MOST_ENTRIES),
})

const isBare = ({ writing_dna: { stories, proof } }: Profile, focus: Focus): boolean =>
  [...stories, ...proof].every((entry) => entry.trim() === '') && focus.topic === undefined && focus.statements.length === 0

/** Why there is nothing, as something that the person can change. */
const hintFor = ({ brief, focus, material, batch }: { brief: DraftBrief; focus: Focus; material: Material; batch: Batch }): string => {
  if (isBare(brief.profile, focus)) return "add stories or proof to the profile's writing_dna"
  const { avoided } = material
  if (avoided > 0 && material.stories.length === 0 && material.proof.length === 0)
    return 'the avoid list rules out every story and proof; shorten writing_dna.avoid or add stories or proof without those phrases'
  const faults = batch.faults
  if (faults.has('repeated')) return "every story and proof was used in recent posts; add new stories or proof to the profile's writing_dna"
  if (faults.has('avoided')) return 'the avoid list rules out every draft; shorten writing_dna.avoid'
  if (batch.kept.length === 0 && (material.stories.length > 0 || material.proof.length > 0))
    return `no sentence of the profile can stand alone within ${brief.maxLength} characters; add shorter stories or proof to the profile's writing_dna`
  return "add stories or proof to the profile's writing_dna"
}

const compose = (asked: DraftBrief, signal: AbortSignal): Batch => {
  const style = styleOf(asked.profile)
  const brief = tightened(asked, style)
  const random = createRandom(brief.seed)
  const focus = focusOf(brief.focus, brief.profile.language)
  const material = sampled(materialOf(brief.profile, focus, style), random)
  const fits: Scope['fits'] = (units, spare) => brief.measure(units.map(({ text }) => text).join('\n\n')) + spare <= brief.maxLength
  const weighed = weigh({ material, focus, style, random, fits }, guidanceOf({ brief, focus, material, style }))
  const batch = fillBatch({ brief, style, topic: style.english ? focus.topic : undefined, material, weighed, random, signal })
  if (batch.kept.length === 0) throw new GenerationError(hintFor({ brief, focus, material, batch }))
  return batch
}

/**
 * The offline drafter: posts made of the profile's own sentences, joined by a small fixed vocabulary that states nothing.
 * The same brief gives the same drafts. It uses no network and costs nothing.
 */
export const createComposer = (): Drafter => ({
  name: 'composer',
  async draft(brief, signal) {
    signal.throwIfAborted()
    return { drafts: compose(brief, signal).kept.map(({ draft }) => draft), model: 'composer', usage: noUsage }
  },
})
