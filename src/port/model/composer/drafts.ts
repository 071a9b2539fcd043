import type { Draft, DraftBrief } from '#domain/growth/drafting/draft'
import type { Profile } from '#domain/growth/drafting/profile'
import type { Focus } from '#domain/growth/reading/focus'
import { countShared } from '#domain/growth/reading/words'
import { createRandom, type Random, sampleOf, shuffle, wantedFirst } from '#kernel/random'
import { GenerationError } from '../drafter.ts'
import { advise, type Guidance, guidanceOf } from './advice.ts'
import { type DraftedBatch, fillBatch } from './batch.ts'
import type { DraftCandidate, DraftForm, DraftScope } from './candidate.ts'
import { audienceCall, openQuestion, shortNews, topicLabel } from './forms-address.ts'
import { checklist, ownList, phraseOverProof, receipts, sideBySide } from './forms-list.ts'
import {
  askAbout,
  disagree,
  lessonFirst,
  oneSentence,
  ownPhrase,
  ownQuestion,
  proofFirst,
} from './forms-point.ts'
import { productMention } from './forms-product.ts'
import {
  endingFirst,
  openSituation,
  shortVersion,
  storyExcerpt,
  storyInOrder,
  thenAndNow,
} from './forms-story.ts'
import type { Material } from './material.ts'
import type { Weighed } from './options.ts'
import { type Prepared, prepare } from './prepare.ts'

/** Forms that only combine the person's sentences, in any language. */
const neutralForms: readonly DraftForm[] = [
  storyInOrder,
  oneSentence,
  receipts,
  sideBySide,
  shortNews,
  productMention,
]

const englishForms: readonly DraftForm[] = [
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
  ownQuestion,
  ownList,
  checklist,
  phraseOverProof,
  audienceCall,
  topicLabel,
  openQuestion,
]

/** More material than this is sampled, to bound the time that a batch takes. */
const MOST_ENTRIES = 60
const MOST_OF_FORM = 240

/** If the profile knows the subject, posts about other subjects are the exception. */
const OFF_FOCUS = 0.004

/**
 * What the forms make of the material; of too many candidates of one form, those on the focus
 * first.
 */
const candidatesOf = (scope: DraftScope, random: Random): DraftCandidate[] => {
  const { terms } = scope.focus
  const wanted = ({ units }: DraftCandidate) =>
    units.some((unit) => countShared(unit.terms, terms) > 0)
  const forms = scope.style.english ? englishForms : neutralForms
  return forms.flatMap((form) => sampleOf(random, form(scope), { most: MOST_OF_FORM, wanted }))
}

const weigh = (
  candidates: readonly DraftCandidate[],
  guidance: Guidance,
  hooks: DraftBrief['hooks'],
): Weighed[] => {
  const chances = new Map(hooks.map(({ hook, weight }) => [hook, weight]))
  const advised = candidates.map((candidate) => ({
    candidate,
    advice: advise(guidance, candidate),
  }))
  const known = advised.some(({ advice }) => advice.relevant)
  const weighty = new Set(advised.flatMap(({ advice }) => advice.against))
  return advised.map(({ candidate, advice }) => {
    const fit = known && !advice.relevant && candidate.units.length > 0 ? OFF_FOCUS : 1
    const heeded = [...weighty].filter(
      (learning) => !advice.against.includes(learning) && !advice.followed.includes(learning),
    )
    return {
      candidate,
      advice,
      heeded,
      weight: candidate.weight * advice.factor * fit * (chances.get(candidate.hook) ?? 1),
    }
  })
}

const sampleMaterial = (material: Material, random: () => number): Material => ({
  ...material,
  stories: wantedFirst(random, material.stories, ({ source }) => source === 'news').slice(
    0,
    MOST_ENTRIES,
  ),
  proof: shuffle(random, material.proof).slice(0, MOST_ENTRIES),
})

const isBare = ({ writing_dna: { stories, proof } }: Profile, focus: Focus): boolean =>
  [...stories, ...proof].every((entry) => entry.trim() === '') &&
  focus.topic === undefined &&
  focus.statements.length === 0

const BARE = "add stories or proof to the profile's writing_dna"
const ALL_AVOIDED =
  'the avoid list rules out every story and proof; shorten writing_dna.avoid or add stories or proof without those phrases'
const ALL_AVOIDED_OR_ARCHIVED =
  'the avoid list and the names of archived products rule out every story and proof; add stories or proof without them, or shorten writing_dna.avoid'

const RULED_OUT =
  'every draft would break a format rule of channel posts; loosen the rules of the channel, or add other stories or proof'

/** Why there is no draft, as advice to the person. */
const hintFor = (
  { brief, focus, material }: Prepared<DraftBrief>,
  { faults }: DraftedBatch,
): string => {
  const { avoided, overlong, stories, proof } = material
  const isEmpty = stories.length === 0 && proof.length === 0
  if (faults.has('rule')) return RULED_OUT
  if (isBare(brief.profile, focus)) return BARE
  if (avoided > 0 && isEmpty)
    return brief.archived.length > 0 ? ALL_AVOIDED_OR_ARCHIVED : ALL_AVOIDED
  if (faults.has('repeated'))
    return "every story and proof was used in recent posts; add new stories or proof to the profile's writing_dna"
  if (faults.has('archived'))
    return 'every draft would mention an archived product; add stories or proof that do not'
  if (faults.has('avoided'))
    return 'the avoid list rules out every draft; shorten writing_dna.avoid'
  if (brief.rules.min_length !== null) return RULED_OUT
  if (isEmpty && overlong === 0) return BARE
  return `no sentence of the profile can stand alone within ${brief.maxLength} characters; add shorter stories or proof to the profile's writing_dna`
}

/** Measures each text once. */
const remembering = ({ measure }: DraftBrief): DraftBrief['measure'] => {
  const lengths = new Map<string, number>()
  return (text) => {
    const length = lengths.get(text) ?? measure(text)
    lengths.set(text, length)
    return length
  }
}

/**
 * Whether sentences fit into one post, by the sum of their lengths: a network counts a sentence the
 * same wherever it is. The finished post is measured as a whole.
 */
const fitting = (
  { measure, maxLength }: DraftBrief,
  lengthOf: DraftBrief['measure'],
): DraftScope['fits'] => {
  const between = measure('\n\n')
  return (units, spare) =>
    units.reduce((length, { text }) => length + lengthOf(text) + between, spare - between) <=
    maxLength
}

/**
 * About how much the composer's own lines and a closing phrase can add to the person's sentences.
 */
const ROOM_TO_GROW = 160

/** Whether a candidate can reach the minimum length of the channel. */
const longEnough = (
  { rules: { min_length } }: DraftBrief,
  lengthOf: DraftBrief['measure'],
): ((candidate: DraftCandidate) => boolean) => {
  if (min_length === null) return () => true
  return ({ units }) =>
    units.reduce((length, { text }) => length + lengthOf(text) + 2, ROOM_TO_GROW) >= min_length
}

/**
 * Posts made of the profile's own sentences, joined by fixed lines that state nothing. The same
 * brief gives the same posts.
 */
export const composeDrafts = (asked: DraftBrief): Draft[] => {
  const random = createRandom(asked.seed)
  // A generator of its own, so that sampling does not change the drafts of profiles that need none.
  const samples = createRandom(`${asked.seed} samples`)
  const read = prepare(asked, samples)
  const prepared = { ...read, material: sampleMaterial(read.material, random) }
  const { brief, style, focus, material } = prepared
  const lengthOf = remembering(brief)
  const scope: DraftScope = { material, focus, style, random, fits: fitting(brief, lengthOf) }
  const candidates = candidatesOf(scope, samples).filter(longEnough(brief, lengthOf))
  const guidance = guidanceOf(prepared)
  const topic = style.english ? focus.topic : undefined
  const batch = fillBatch({
    ...prepared,
    topic,
    weighed: weigh(candidates, guidance, brief.hooks),
    guidance,
    random,
  })
  if (batch.kept.length === 0) throw new GenerationError(hintFor(prepared, batch))
  return batch.kept.map(({ draft }) => draft)
}
