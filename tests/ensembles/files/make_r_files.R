# How the files r-*.csv beside this script were made: small forests of R, as tables of
# their trees, and what R predicts for some rows.
#
#     Rscript make_r_files.R SEED FOLDER      (seed 1 for the files here)
#
# Needs the packages randomForest and ranger.

suppressMessages({library(randomForest); library(ranger)})
arguments <- commandArgs(trailingOnly = TRUE)
seed <- as.integer(arguments[1])
folder <- arguments[2]
set.seed(seed)

# All digits: write.csv alone keeps 15.
write_exactly <- function(table, name) {
  table[] <- lapply(table, function(x) if (is.double(x)) sprintf("%.17g", x) else x)
  table[table == "NA"] <- NA
  write.csv(table, file.path(folder, paste0("r-", name, ".csv")), row.names = FALSE)
}
table_of <- function(forest, label_var = TRUE) {
  if (inherits(forest, "ranger"))
    trees <- lapply(seq_len(forest$num.trees), function(k) treeInfo(forest, k))
  else
    trees <- lapply(seq_len(forest$ntree),
                    function(k) as.data.frame(getTree(forest, k, label_var)))
  do.call(rbind, trees)
}

n <- 80
rows <- data.frame(
  age = round(rnorm(n, 50, 15)),
  # Beside sets of levels, treeInfo writes thresholds with 15 digits.
  dose = round(rnorm(n) * 64) / 64,
  ward = factor(sample(c("west", "east", "north", "south"), n, TRUE)),
  visits = rpois(n, 2)
)
score <- rows$dose + (rows$ward %in% c("west", "south")) + rows$age / 30
rows$number <- score + rnorm(n) / 3
rows$result <- factor(c("ill", "well", "unclear"))[cut(score, c(-Inf, 1.7, 2.7, Inf))]
rows$group <- factor(as.integer(rows$number > 2))
# Before version 0.15, ranger's treeInfo exchanges classes that first occur in another
# order than their levels.
rows <- rows[order(rows$result), ]

predictors <- c("age", "dose", "ward", "visits")
X <- rows[predictors]
depth <- sample(2:4, 1)
leaves <- 2^depth
forest_of <- function(y, ...)
  randomForest(X, rows[[y]], ntree = 4, maxnodes = leaves, ...)
ranger_of <- function(y, ...)
  ranger(x = X, y = rows[[y]], num.trees = 4, max.depth = depth, seed = seed,
         num.threads = 1, ...)
forests <- list(
  regression = forest_of("number"),
  classes = forest_of("result"),
  numbered = forest_of("group"),
  ranger_regression = ranger_of("number", respect.unordered.factors = "partition"),
  ranger_classes = ranger_of("result", respect.unordered.factors = "partition"),
  ranger_probability = ranger_of("result", probability = TRUE,
                                 respect.unordered.factors = "partition")
)
for (name in names(forests))
  write_exactly(table_of(forests[[name]], name != "numbered"), name)

# Some rows with a threshold in place of a number.
new <- X[1:40, ]
cuts <- table_of(forests$regression)
for (column in c("age", "dose")) {
  at <- cuts[["split point"]][which(cuts[["split var"]] == column)]
  new[[column]][seq_along(at)[seq_len(min(20, length(at)))]] <-
    at[seq_len(min(20, length(at)))]
}
# Shares of votes, where ranger gives the class alone.
share_of <- function(forest, data) {
  if (!inherits(forest, "ranger")) {
    if (forest$type == "regression") return(cbind(predict(forest, data)))
    return(predict(forest, data, type = "prob"))
  }
  found <- predict(forest, data, num.threads = 1, predict.all = TRUE)$predictions
  if (forest$treetype == "Classification")
    return(sapply(seq_along(forest$forest$levels), function(k) rowMeans(found == k)))
  if (forest$treetype == "Regression")
    return(cbind(predict(forest, data, num.threads = 1)$predictions))
  predict(forest, data, num.threads = 1)$predictions
}
answers <- lapply(names(forests), function(name) {
  found <- as.data.frame(share_of(forests[[name]], new))
  setNames(found, paste(name, seq_along(found)))
})
write_exactly(cbind(new, do.call(cbind, answers)), "answers")
