// Arrays of the kernels: what NumPy hands over, scratch, and what goes back.
//
//   View<const double, 2>  an argument that is read: any array of a type that NumPy
//                          casts safely to the one named; copied where it has another
//                          type or other strides
//   View<double, 2>        an argument that is written: of exactly this type, writable,
//                          contiguous; another is refused, never copied in silence
//   Array<double, 2>       memory of its own, for scratch and for results
//
// An element is a(i, j), a row a[i], a part of a vector a.part(start, stop). Indices
// count from 0 only; builds with CLEARWOOD_CHECKED refuse those outside.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace clearwood {

namespace nb = nanobind;
using Index = std::int64_t;

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

inline void check_index([[maybe_unused]] Index i, [[maybe_unused]] Index size) {
#ifdef CLEARWOOD_CHECKED
    if (i < 0 || i >= size)
        throw std::out_of_range("index " + std::to_string(i) + " of " +
                                std::to_string(size));
#endif
}

template <typename T, int N>
class View {
public:
    View() = default;
    View(T* data, std::array<Index, N> shape) : data_(data), shape_(shape) {}

    template <typename U>
        requires std::is_same_v<const U, T> && (!std::is_same_v<U, T>)
    View(const View<U, N>& other) : data_(other.data()), shape_(other.shape()) {}

    T* data() const { return data_; }
    const std::array<Index, N>& shape() const { return shape_; }
    Index size(int axis) const { return shape_[axis]; }
    Index size() const {
        Index result = 1;
        for (Index length : shape_) result *= length;
        return result;
    }
    T* begin() const { return data_; }
    T* end() const { return data_ + size(); }

    template <typename... I>
        requires(sizeof...(I) == N)
    T& operator()(I... index) const {
        Index offset = 0;
        int axis = 0;
        ((check_index(index, shape_[axis]), offset = offset * shape_[axis++] + index),
         ...);
        return data_[offset];
    }

    decltype(auto) operator[](Index i) const {
        check_index(i, shape_[0]);
        if constexpr (N == 1) {
            return (data_[i]);
        } else {
            std::array<Index, N - 1> rest;
            std::copy(shape_.begin() + 1, shape_.end(), rest.begin());
            View<T, N - 1> row(nullptr, rest);
            return View<T, N - 1>(data_ + i * row.size(), rest);
        }
    }

    // Entries start to stop of the first axis.
    View part(Index start, Index stop) const {
        Index stride = 1;
        for (int axis = 1; axis < N; ++axis) stride *= shape_[axis];
        if (start < stop) {
            check_index(start, shape_[0]);
            check_index(stop - 1, shape_[0]);
        }
        auto shape = shape_;
        shape[0] = std::max<Index>(stop - start, 0);
        return View(data_ + start * stride, shape);
    }

    void fill(std::remove_const_t<T> value) const { std::fill(begin(), end(), value); }

private:
    T* data_ = nullptr;
    std::array<Index, N> shape_{};
};

template <typename T, int N>
class Array : public View<T, N> {
public:
    // Zeros, as numpy.zeros.
    explicit Array(std::array<Index, N> shape) : Array(shape, T{}) {}
    Array(std::array<Index, N> shape, T value) : Array(shape, nullptr) {
        this->fill(value);
    }
    // Memory that is written before it is read, as numpy.empty.
    static Array empty(std::array<Index, N> shape) { return Array(shape, nullptr); }
    explicit Array(Index size) requires(N == 1) : Array(std::array<Index, 1>{size}) {}
    Array(Index size, T value) requires(N == 1) : Array(std::array<Index, 1>{size}, value) {}

    Array(Array&&) = default;
    Array& operator=(Array&&) = default;

    T* release() { return memory_.release(); }

private:
    Array(std::array<Index, N> shape, std::nullptr_t)
        : View<T, N>(nullptr, shape), memory_(new T[std::max<Index>(this->size(), 1)]) {
        static_cast<View<T, N>&>(*this) = View<T, N>(memory_.get(), shape);
    }

    std::unique_ptr<T[]> memory_;
};

template <typename T>
using Vector = Array<T, 1>;
template <typename T>
using Matrix = Array<T, 2>;

template <typename T, int N>
Array<std::remove_const_t<T>, N> copy_of(const View<T, N>& view) {
    auto result = Array<std::remove_const_t<T>, N>::empty(view.shape());
    std::copy(view.begin(), view.end(), result.begin());
    return result;
}

template <typename T, int N>
Array<std::remove_const_t<T>, N> copy_of(const Array<T, N>& array) {
    return copy_of(static_cast<const View<T, N>&>(array));
}

// Logarithms of values.
inline Vector<double> log_of(View<const double, 1> values) {
    Vector<double> result = copy_of(values);
    for (double& value : result) value = std::log(value);
    return result;
}

// The first place of the largest value, as numpy.argmax; not for NaN.
template <typename T>
Index argmax(const View<T, 1>& values) {
    return std::max_element(values.begin(), values.end()) - values.begin();
}

template <typename T, int N>
std::remove_const_t<T> sum(const View<T, N>& values) {
    std::remove_const_t<T> result{};
    for (const T& value : values) result += value;
    return result;
}

// Add a function to the Python module; it runs without the GIL.
template <typename Function>
void add_kernel(nb::module_& module, const char* name, Function* function) {
    module.def(name, function, nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace clearwood

namespace nanobind::detail {

template <typename T, int N>
struct type_caster<clearwood::View<T, N>> {
    using Read = ndarray<T, nanobind::ndim<N>, c_contig, device::cpu>;
    using View = clearwood::View<T, N>;
    NB_TYPE_CASTER(View, make_caster<Read>::Name)

    bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
        if (load(source, cleanup)) return true;
        if constexpr (std::is_const_v<T>) {
            if (!(flags & (uint32_t) cast_flags::convert)) return false;
            try {
                object numpy = module_::import_("numpy");
                if (!isinstance(source, numpy.attr("ndarray"))) return false;
                object wanted = numpy.attr("dtype")(dtype_name());
                if (!cast<bool>(numpy.attr("can_cast")(source.attr("dtype"), wanted)))
                    return false;
                object copy = numpy.attr("ascontiguousarray")(source, wanted);
                if (!cleanup || !load(copy, cleanup)) return false;
                cleanup->append(copy.release().ptr());  // lives as long as the call
                return true;
            } catch (std::exception&) {
                return false;
            }
        }
        return false;
    }

private:
    make_caster<Read> read_;

    bool load(handle source, cleanup_list* cleanup) noexcept {
        if (!read_.from_python(source, 0, cleanup)) return false;
        std::array<clearwood::Index, N> shape;
        for (int axis = 0; axis < N; ++axis) shape[axis] = read_.value.shape(axis);
        value = View(read_.value.data(), shape);
        return true;
    }

    static const char* dtype_name() {
        using Plain = std::remove_const_t<T>;
        if constexpr (std::is_same_v<Plain, bool>) return "bool";
        if constexpr (std::is_same_v<Plain, double>) return "float64";
        if constexpr (std::is_same_v<Plain, float>) return "float32";
        if constexpr (std::is_same_v<Plain, std::uint8_t>) return "uint8";
        if constexpr (std::is_same_v<Plain, std::uint16_t>) return "uint16";
        if constexpr (std::is_same_v<Plain, std::uint32_t>) return "uint32";
        if constexpr (std::is_same_v<Plain, std::uint64_t>) return "uint64";
        if constexpr (std::is_same_v<Plain, std::int8_t>) return "int8";
        if constexpr (std::is_same_v<Plain, std::int16_t>) return "int16";
        if constexpr (std::is_same_v<Plain, std::int32_t>) return "int32";
        if constexpr (std::is_same_v<Plain, std::int64_t>) return "int64";
    }
};

template <typename T, int N>
struct type_caster<clearwood::Array<T, N>> {
    using Written = ndarray<numpy, T, nanobind::ndim<N>>;
    using Array = clearwood::Array<T, N>;
    static constexpr auto Name = make_caster<Written>::Name;
    template <typename U>
    using Cast = Array;

    static handle from_cpp(Array&& array, rv_policy, cleanup_list* cleanup) noexcept {
        std::array<size_t, N> shape;
        for (int axis = 0; axis < N; ++axis) shape[axis] = array.size(axis);
        try {
            T* data = array.data();
            capsule owner(data, [](void* memory) noexcept { delete[] (T*) memory; });
            array.release();
            return make_caster<Written>::from_cpp(Written(data, N, shape.data(), owner),
                                                  rv_policy::reference, cleanup);
        } catch (python_error& error) {
            error.restore();
            return {};
        }
    }
};

// A struct whose fields() ties its members is a tuple (a NamedTuple) in Python.
template <typename Struct>
    requires requires(Struct s) { s.fields(); }
struct type_caster<Struct> {
    using Fields = decltype(std::declval<Struct>().fields());

    template <typename>
    struct Casters;
    template <typename... T>
    struct Casters<std::tuple<T&...>> {
        using type = std::tuple<make_caster<T>...>;
        static constexpr auto name =
            const_name("tuple[") + concat(make_caster<T>::Name...) + const_name("]");
    };

    NB_TYPE_CASTER(Struct, Casters<Fields>::name)

    bool from_python(handle source, uint32_t flags, cleanup_list* cleanup) noexcept {
        return load(source, flags, cleanup,
                    std::make_index_sequence<std::tuple_size_v<Fields>>());
    }

private:
    typename Casters<Fields>::type casters_;

    template <size_t... I>
    bool load(handle source, uint32_t flags, cleanup_list* cleanup,
              std::index_sequence<I...>) noexcept {
        if (!PyTuple_Check(source.ptr()) || PyTuple_GET_SIZE(source.ptr()) != sizeof...(I))
            return false;
        bool loaded = (std::get<I>(casters_).from_python(
                           PyTuple_GET_ITEM(source.ptr(), I), flags, cleanup) &&
                       ...);
        if (!loaded) return false;
        auto fields = value.fields();
        ((std::get<I>(fields) =
              std::get<I>(casters_)
                  .operator cast_t<std::remove_reference_t<std::tuple_element_t<I, Fields>>&>()),
         ...);
        return true;
    }
};

}  // namespace nanobind::detail
