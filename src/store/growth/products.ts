import { productRecord } from '#contract/records/growth/product'
import type { OtherProducts, Product, ProductStatus } from '#domain/growth/drafting/product'
import type { Query } from '../engine/db.ts'
import { many, mapPart, one, type Part, sure } from '../engine/load.ts'
import type { Page } from '../engine/page.ts'
import { tableOf } from '../engine/records.ts'

const table = tableOf(productRecord)
const { columns } = table

export const listProducts =
  ({ status, limit, after }: Page & { status?: ProductStatus | undefined }): Query<Product> =>
  (sql) =>
    sql`select ${columns(sql)} from product
      where true ${status ? sql`and status = ${status}` : sql``}
        ${after ? sql`and id < ${after}` : sql``} order by id desc limit ${limit + 1}`

/** All products, oldest first. Their number is bounded. */
export const allProducts: Query<Product> = (sql) =>
  sql`select ${columns(sql)} from product order by id`

/** The addresses of products. */
export const productUrls = mapPart(
  many<{ url: string }>({}, (sql) => sql`select url from product where url is not null`),
  (rows) => rows.map(({ url }) => url),
)

export const productById =
  (id: string): Query<Product> =>
  (sql) =>
    sql`select ${columns(sql)} from product where id = ${id}`

export const productPart = (id: string) => one<Product>(table.times, productById(id))

interface OthersOf {
  /** Null for a product that does not exist yet. */
  id: string | null
  /** Null: the name that it has. */
  name: string | null
}

/**
 * Counts the products other than this one, and tells whether an active one has this name, in upper
 * or lower case.
 */
export const otherProducts = ({ id, name }: OthersOf): Part<OtherProducts> =>
  sure(
    one<OtherProducts>({}, (sql) => {
      const own = sql`lower(coalesce(${name?.trim() ?? null},
        (select p.name from product p where p.id = ${id})))`
      return sql`select count(*)::int as total, (count(*) filter (where status = 'active'))::int as
        active,
      coalesce(bool_or(status = 'active' and lower(name) = ${own}), false) as taken from product
        where id is distinct from ${id}`
    }),
  )

export const { insert: insertProduct, save: saveProduct } = table

export const deleteProduct =
  (id: string): Query =>
  (sql) =>
    sql`delete from product where id = ${id}`
