import type { OtherProducts, Product, ProductStatus } from '#domain/growth/drafting/product'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import { one, type Part, sure } from '../engine/load.ts'
import type { Page } from '../engine/page.ts'

const columns = (sql: Sql): Fragment => sql`id, name, one_liner, url, status, created_at, updated_at`

export const listProducts =
  ({ status, limit, after }: Page & { status?: ProductStatus | undefined }): Query<Product> =>
  (sql) =>
    sql`select ${columns(sql)} from product where true ${status ? sql`and status = ${status}` : sql``}
        ${after ? sql`and id < ${after}` : sql``} order by id desc limit ${limit + 1}`

/** All products, oldest first. Their number is bounded. */
export const allProducts: Query<Product> = (sql) => sql`select ${columns(sql)} from product order by id`

export const productById =
  (id: string): Query<Product> =>
  (sql) =>
    sql`select ${columns(sql)} from product where id = ${id}`

export const productPart = (id: string) => one<Product>({ created_at: true, updated_at: true }, productById(id))

interface OthersOf {
  /** Null for a product that does not exist yet. */
  id: string | null
  /** Null: the one it has. */
  name: string | null
}

/** Counts the products other than this one, and finds whether an active one has this name in any case. */
export const otherProducts = ({ id, name }: OthersOf): Part<OtherProducts> =>
  sure(
    one<OtherProducts>({}, (sql) => {
      const own = sql`lower(coalesce(${name?.trim() ?? null}, (select p.name from product p where p.id = ${id})))`
      return sql`select count(*)::int as total, (count(*) filter (where status = 'active'))::int as active,
      coalesce(bool_or(status = 'active' and lower(name) = ${own}), false) as taken from product where id is distinct from ${id}`
    }),
  )

export const insertProduct =
  (product: Product): Query =>
  (sql) =>
    sql`insert into product ${sql(product)}`

export const saveProduct =
  ({ id, name, one_liner, url, status, updated_at }: Product): Query =>
  (sql) =>
    sql`update product set name = ${name}, one_liner = ${one_liner}, url = ${url}, status = ${status}, updated_at = ${updated_at}
        where id = ${id}`

export const deleteProduct =
  (id: string): Query =>
  (sql) =>
    sql`delete from product where id = ${id}`
