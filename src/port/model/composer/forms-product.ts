import { containsPhrase } from '#domain/growth/drafting/phrase'
import { type Block, candidate, cite, type DraftCandidate, type DraftForm, type DraftScope, quoteOf } from './candidate.ts'
import type { Offer, Unit } from './material.ts'
import { wordLine } from './text.ts'

const prose = (units: readonly Unit[]): Block => ({ kind: 'prose', units })

/** Characters of an address with the empty line before it; some networks count it shorter. */
const room = (url: string): number => url.length + 2

/** All posts on products together weigh so much, however many products there are. */
const SHARE = 7

const weightIn = ({ material }: DraftScope, share: number): number => (SHARE * share) / material.offers.length

/** Closes with the address where there is one and it fits. */
const withAddress = (parts: Parameters<typeof candidate>[0], { url }: Offer, { fits }: DraftScope): DraftCandidate => {
  const links = url !== undefined && fits(parts.units, room(url))
  return candidate(links ? { ...parts, blocks: [...parts.blocks, { kind: 'address', url }] } : parts)
}

/** What happened elsewhere is not put beside a product: it would seem to have happened by it. */
const naming = ({ name }: Offer): ((unit: Unit) => boolean) => {
  const words = wordLine(name).trim()
  return ({ line, text }) => line.includes(words) && containsPhrase(text, name)
}

/** The product by itself: its name and what it is. */
const alone = (offer: Offer, scope: DraftScope): DraftCandidate[] =>
  scope.fits([offer.unit], 0)
    ? [
        withAddress(
          {
            hook: 'product-line',
            format: 'product',
            blocks: [prose([offer.unit])],
            units: [offer.unit],
            cues: ['product', 'short'],
            weight: weightIn(scope, 0.4),
            why: `Says what your product “${offer.name}” is, in your words.`,
          },
          offer,
          scope,
        ),
      ]
    : []

/** The product under a story that names it. */
const underStory = (offer: Offer, scope: DraftScope): DraftCandidate[] => {
  const names = naming(offer)
  return scope.material.stories
    .filter(({ source, units }) => source === 'story' && units.some(names))
    .filter(({ units }) => scope.fits([...units, offer.unit], 0))
    .map(({ units }) =>
      withAddress(
        {
          hook: 'story-then-product',
          format: 'product',
          blocks: [prose(units), prose([offer.unit])],
          units: [...units, offer.unit],
          lead: units[0]!,
          cues: ['product', 'story'],
          weight: weightIn(scope, 0.5),
          why: `Tells your story ${cite(units[0]!)} and ends on your product “${offer.name}”, which it names.`,
        },
        offer,
        scope,
      ),
    )
}

/** The product with a piece of proof that names it. */
const overProof = (offer: Offer, scope: DraftScope): DraftCandidate[] => {
  const names = naming(offer)
  return scope.material.proof
    .filter((unit) => unit.standalone && names(unit) && scope.fits([unit, offer.unit], 0))
    .map((unit) =>
      withAddress(
        {
          hook: 'proof-then-product',
          format: 'product',
          blocks: [prose([unit]), prose([offer.unit])],
          units: [unit, offer.unit],
          lead: unit,
          cues: ['product', 'proof'],
          weight: weightIn(scope, 0.5),
          why: `Puts your proof ${quoteOf(unit)} before your product “${offer.name}”.`,
        },
        offer,
        scope,
      ),
    )
}

/** What the person offers, in their own words: nothing is said of a product that they have not said. */
export const productMention: DraftForm = (scope) =>
  scope.material.offers.flatMap((offer) => [...alone(offer, scope), ...underStory(offer, scope), ...overProof(offer, scope)])
