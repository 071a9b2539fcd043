import { productRecord } from '#contract/records/growth/product'
import type { RowOf } from '#contract/records/record'
import { refuseNaming } from '../way-on.ts'
import type { DraftBrief } from './draft.ts'

export type Product = RowOf<typeof productRecord>
export type ProductStatus = Product['status']

export const productLimits = {
  /** Every brief carries all active products. */
  active: 25,
  /** Includes archived products: every brief carries their names. */
  all: 200,
} as const
const LIST = 'growth.products.list'

/** The workspace's other products, as far as a decision depends on them. */
export interface OtherProducts {
  total: number
  active: number
  /** Whether an active product has this name. */
  taken: boolean
}

/** Posts use the texts verbatim, so outer spaces go. */
const trimProduct = <P extends Partial<Pick<Product, 'name' | 'one_liner'>>>(product: P): P => ({
  ...product,
  ...(product.name === undefined ? {} : { name: product.name.trim() }),
  ...(product.one_liner === undefined ? {} : { one_liner: product.one_liner.trim() }),
})

const requirePlace = (product: Product, { active, taken }: OtherProducts, action: string): void => {
  if (product.status !== 'active') return
  if (taken)
    refuseNaming('duplicate', `cannot ${action}: an active product is named ${product.name}`, LIST)
  if (active >= productLimits.active)
    refuseNaming(
      'limit_reached',
      `cannot ${action}: ${active} products are active; archive one first`,
      LIST,
    )
}

/** A person's description of a new product. */
type ProductFields = Pick<Product, 'name' | 'one_liner'> & Omit<ProductPatch, 'status'>

export const newProduct = (
  id: string,
  { others, now, ...fields }: ProductFields & { others: OtherProducts; now: Date },
): Product => {
  if (others.total >= productLimits.all)
    refuseNaming(
      'limit_reached',
      `cannot add: the workspace has ${others.total} products; edit an archived one and make it active instead`,
      LIST,
    )
  const product: Product = {
    ...productRecord.blank,
    id,
    ...trimProduct(fields),
    status: 'active',
    created_at: now,
    updated_at: now,
  }
  requirePlace(product, others, 'add')
  return product
}

export type ProductPatch = Partial<Omit<Product, 'id' | 'created_at' | 'updated_at'>>

/** Absent fields stay; a `url` of null is removed. */
export const updateProduct = (
  product: Product,
  patch: ProductPatch,
  { others, now }: { others: OtherProducts; now: Date },
): Product => {
  const next: Product = { ...product, ...trimProduct(patch), updated_at: now }
  requirePlace(next, others, 'change')
  return next
}

export const productsForBrief = (
  products: readonly Product[],
): Pick<DraftBrief, 'products' | 'archived'> => ({
  products: products.flatMap(({ status, name, one_liner, url }) =>
    status === 'active' ? [{ name, one_liner, url }] : [],
  ),
  archived: products.flatMap(({ status, name }) => (status === 'archived' ? [name] : [])),
})
