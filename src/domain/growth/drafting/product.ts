/** What a workspace offers: active ⇄ archived. Drafts may mention active products, archived ones never. */
import { fail } from '#kernel/errors'
import type { DraftBrief } from './draft.ts'

export type ProductStatus = 'active' | 'archived'

export interface Product {
  id: string
  name: string
  one_liner: string
  url: string | null
  status: ProductStatus
  created_at: Date
  updated_at: Date
}

/** All active ones go into every brief. */
export const MOST_ACTIVE_PRODUCTS = 25
/** Archived ones included: their names go into every brief too. */
export const MOST_PRODUCTS = 200

/** What of the other products of a workspace decides on one. */
export interface OtherProducts {
  total: number
  active: number
  /** An active one has this name. */
  taken: boolean
}

/** Texts are trimmed: they stand in posts as they are. */
const trimmed = <P extends Partial<Pick<Product, 'name' | 'one_liner'>>>(product: P): P => ({
  ...product,
  ...(product.name === undefined ? {} : { name: product.name.trim() }),
  ...(product.one_liner === undefined ? {} : { one_liner: product.one_liner.trim() }),
})

const requirePlace = (product: Product, { active, taken }: OtherProducts, action: string): void => {
  if (product.status !== 'active') return
  if (taken) fail('conflict', `cannot ${action}: an active product is named ${product.name}`)
  if (active >= MOST_ACTIVE_PRODUCTS) fail('conflict', `cannot ${action}: ${active} products are active; archive one first`)
}

export const newProduct = (
  id: string,
  { others, now, ...given }: Pick<Product, 'name' | 'one_liner' | 'url'> & { others: OtherProducts; now: Date },
): Product => {
  if (others.total >= MOST_PRODUCTS)
    fail('conflict', `cannot add: the workspace has ${others.total} products; edit an archived one and make it active instead`)
  const product: Product = { id, ...trimmed(given), status: 'active', created_at: now, updated_at: now }
  requirePlace(product, others, 'add')
  return product
}

export type ProductPatch = Partial<Pick<Product, 'name' | 'one_liner' | 'url' | 'status'>>

/** Fields that are absent stay; a `url` of null goes. */
export const updateProduct = (product: Product, patch: ProductPatch, { others, now }: { others: OtherProducts; now: Date }): Product => {
  const next: Product = { ...product, ...trimmed(patch), updated_at: now }
  requirePlace(next, others, 'change')
  return next
}

/** What a drafter is told of the products of a workspace. */
export const productsForBrief = (products: readonly Product[]): Pick<DraftBrief, 'products' | 'archived'> => ({
  products: products.flatMap(({ status, name, one_liner, url }) => (status === 'active' ? [{ name, one_liner, url }] : [])),
  archived: products.flatMap(({ status, name }) => (status === 'archived' ? [name] : [])),
})
