import type { OtherProducts, Product, ProductStatus } from '#domain/growth/drafting/product'
import { fail } from '#kernel/errors'
import type { Fragment, Query, Sql } from '../engine/db.ts'
import type { Page } from '../engine/page.ts'

const columns = (sql: Sql): Fragment => sql`id, name, one_liner, url, status, created_at, updated_at`

export const listProducts =
  ({ status, limit, after }: Page & { status?: ProductStatus | undefined }): Query =>
  (sql) =>
    sql`select ${columns(sql)} from product where true ${status ? sql`and status = ${status}` : sql``}
        ${after ? sql`and id < ${after}` : sql``} order by id desc limit ${limit + 1}`

/** All products, oldest first. Their number is bounded. */
export const allProducts: Query = (sql) => sql`select ${columns(sql)} from product order by id`

/** Counts the products other than this one, and finds whether an active one has this name in any case. */
export const otherProducts = async (sql: Sql, { id, name }: Pick<Product, 'id' | 'name'>): Promise<OtherProducts> =>
  (
    await sql`select count(*)::int as total, (count(*) filter (where status = 'active'))::int as active,
      coalesce(bool_or(status = 'active' and lower(name) = lower(${name.trim()})), false) as taken from product where id <> ${id}`
  )[0] as unknown as OtherProducts

export const lockProduct = async (sql: Sql, id: string): Promise<Product> =>
  ((await sql`select ${columns(sql)} from product where id = ${id} for update`)[0] as Product | undefined) ??
  fail('not_found', 'no such product')

export const insertProduct =
  (product: Product): Query =>
  (sql) =>
    sql`insert into product ${sql(product as never)}`

export const saveProduct =
  ({ id, name, one_liner, url, status, updated_at }: Product): Query =>
  (sql) =>
    sql`update product set name = ${name}, one_liner = ${one_liner}, url = ${url}, status = ${status}, updated_at = ${updated_at}
        where id = ${id}`
