import { containsPhrase } from '#domain/growth/drafting/phrase'
import { wordLine } from '#domain/growth/reading/words'
import {
  candidate,
  cite,
  type DraftForm,
  type DraftScope,
  type Paragraph,
  quoteOf,
} from './candidate.ts'
import type { Offer, Unit } from './material.ts'

/** The weight of all product posts together, however many products there are. */
const SHARE = 7

/**
 * Only material that names the product goes beside it: anything else would seem to be its doing.
 */
const naming = ({ name }: Offer): ((unit: Unit) => boolean) => {
  const words = wordLine(name).trim()
  return ({ line, text }) => line.includes(words) && containsPhrase(text, name)
}

/**
 * The product after `units`, with its address if there is one and it fits; some networks count
 * addresses as shorter.
 */
const endingOn = (
  { unit, url }: Offer,
  units: readonly Unit[],
  { fits }: DraftScope,
): Paragraph[] => {
  const links = url !== undefined && fits([...units, unit], url.length + '\n\n'.length)
  return [units, [unit], ...(links ? [{ kind: 'address' as const, url, units: [] as const }] : [])]
}

const postsOn = (offer: Offer, scope: DraftScope) => {
  const { stories, proof, offers } = scope.material
  const names = naming(offer)
  const fits = (units: readonly Unit[]) => scope.fits([...units, offer.unit], 0)
  const weight = (share: number) => (SHARE * share) / offers.length
  const alone = `Says what your product “${offer.name}” is, in your words.`
  return [
    ...(fits([])
      ? [candidate('product-line', endingOn(offer, [], scope), alone, { weight: weight(0.4) })]
      : []),
    ...stories
      .filter(({ source, units }) => source === 'story' && units.some(names) && fits(units))
      .map(({ units }) => {
        const why = `Tells your story ${cite(units[0]!)} and ends on your product “${offer.name}”, which it names.`
        return candidate('story-then-product', endingOn(offer, units, scope), why, {
          weight: weight(0.5),
        })
      }),
    ...proof
      .filter((unit) => unit.standalone && names(unit) && fits([unit]))
      .map((unit) => {
        const why = `Puts your proof ${quoteOf(unit)} before your product “${offer.name}”.`
        return candidate('proof-then-product', endingOn(offer, [unit], scope), why, {
          weight: weight(0.5),
        })
      }),
  ]
}

/** The person's products, in their own words only. */
export const productMention: DraftForm = (scope) =>
  scope.material.offers.flatMap((offer) => postsOn(offer, scope))
